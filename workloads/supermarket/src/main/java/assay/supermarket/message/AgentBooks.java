package assay.supermarket.message;

import java.util.List;

/** The books of one agent. */
public record AgentBooks(String agent, List<Account> accounts) {}
