package assay.supermarket.link;

import java.util.Objects;

/**
 * The address of an agent.
 *
 * @param group the group (backend) in which it lives
 * @param role {@code supermarket}, {@code supplier}, {@code headquarters} or {@code office}
 * @param number counts those of a role in a group from 0
 */
public record AgentId(String group, String role, int number) {
  public AgentId {
    Objects.requireNonNull(group);
    Objects.requireNonNull(role);
    if (group.isEmpty() || role.isEmpty() || group.contains("/") || role.contains("/")) {
      throw new IllegalArgumentException("a group or role is empty or has a slash");
    }
    if (number < 0) {
      throw new IllegalArgumentException("agents are counted from 0");
    }
  }

  /** Reads what {@link #toString} writes. */
  public static AgentId parse(String text) {
    int first = text.indexOf('/');
    int last = text.lastIndexOf('/');
    if (first < 0 || first == last) {
      throw new IllegalArgumentException("not an agent: " + text);
    }
    return new AgentId(
        text.substring(0, first),
        text.substring(first + 1, last),
        Integer.parseInt(text.substring(last + 1)));
  }

  /** {@code group/role/number}. */
  @Override
  public String toString() {
    return group + '/' + role + '/' + number;
  }
}
