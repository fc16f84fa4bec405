package assay.supermarket.model;

import assay.supermarket.link.AgentId;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Who there is: every group has as many supermarkets and suppliers; headquarters lives in the
 * first.
 *
 * @param group the group of this process
 * @param groups all groups, the first with headquarters
 */
public record Company(
    String group, List<String> groups, int supermarketsPerGroup, int suppliersPerGroup) {
  public Company {
    groups = List.copyOf(groups);
    if (!groups.contains(group)) {
      throw new IllegalArgumentException("group " + group + " is not one of " + groups);
    }
    if (groups.stream().distinct().count() != groups.size()) {
      throw new IllegalArgumentException("a group is named twice in " + groups);
    }
    if (supermarketsPerGroup < 1 || suppliersPerGroup < 1) {
      throw new IllegalArgumentException("a group has at least one supermarket and one supplier");
    }
  }

  public AgentId headquarters() {
    return new AgentId(groups.get(0), "headquarters", 0);
  }

  public boolean hasHeadquarters() {
    return group.equals(groups.get(0));
  }

  public static AgentId office(String group) {
    return new AgentId(group, "office", 0);
  }

  public List<AgentId> offices() {
    return groups.stream().map(Company::office).toList();
  }

  /** The supermarkets of a group. */
  public List<AgentId> supermarkets(String ofGroup) {
    return agents(ofGroup, "supermarket", supermarketsPerGroup);
  }

  public List<AgentId> supermarkets() {
    return groups.stream().flatMap(each -> supermarkets(each).stream()).toList();
  }

  /** The suppliers of a group; they supply the supermarkets of their own group. */
  public List<AgentId> suppliers(String ofGroup) {
    return agents(ofGroup, "supplier", suppliersPerGroup);
  }

  /** Those from whom a supermarket gets goods that it lacks: of other groups if there are any. */
  public List<AgentId> partners(AgentId supermarket) {
    List<AgentId> others =
        supermarkets().stream().filter(id -> !id.group().equals(supermarket.group())).toList();
    return others.isEmpty()
        ? supermarkets().stream().filter(id -> !id.equals(supermarket)).toList()
        : others;
  }

  private static List<AgentId> agents(String group, String role, int count) {
    return IntStream.range(0, count).mapToObj(i -> new AgentId(group, role, i)).toList();
  }
}
