import { splitRules } from "../engine/index.ts";

/** Commands that a database user may be granted: the 52 of the users host. */
export const allowedCommands: ReadonlySet<string> = new Set(
  `INFO CLIENT DBSIZE PING HELLO AUTH RESTORE DUMP DEL EXISTS UNLINK TYPE FLUSHALL TOUCH EXPIRE PEXPIREAT TTL PTTL
   EXPIRETIME RENAME RENAMENX SCAN DISCARD EXEC MULTI UNWATCH WATCH ECHO SLOWLOG WAIT WAITAOF READONLY GRAPH.INFO
   GRAPH.LIST GRAPH.QUERY GRAPH.RO_QUERY GRAPH.EXPLAIN GRAPH.PROFILE GRAPH.DELETE GRAPH.CONSTRAINT GRAPH.SLOWLOG
   GRAPH.BULK GRAPH.CONFIG GRAPH.COPY CLUSTER COMMAND GRAPH.MEMORY MEMORY BGREWRITEAOF MODULE|LIST MONITOR GRAPH.UDF`.split(
    /\s+/,
  ),
);

/** Longest part of a rule that a refusal repeats. */
const longest = 60;

/**
 * The rules of an ACL that are not allowed (specification 2.7), as a refusal may repeat them. Allowed are key patterns
 * (`~p`, `%R~p`, `%W~p`, `%RW~p`), grants of the commands above or one of their subcommands (`+C`, `+C|sub`), and removals (`-c`):
 * everything else (passwords, hashes, channels, `on`, `nopass`, `allcommands`, selectors) would say more than what may be run.
 */
export function refusedRules(acl: string): readonly string[] {
  return splitRules(acl)
    .filter((rule) => !isAllowed(rule))
    .map(shown);
}

function isAllowed(rule: string): boolean {
  if (!rule.startsWith("+")) return /^(?:-|~|%(?:R|W|RW|WR)~)./is.test(rule);
  const command = rule.slice(1).toUpperCase();
  return allowedCommands.has(command) || allowedCommands.has(command.split("|")[0] ?? "");
}

/** A rule without what follows the sign of a password or its hash. */
function shown(rule: string): string {
  if (/^[<>#!]/.test(rule)) return `${rule.slice(0, 1)}...`;
  return rule.length > longest ? `${rule.slice(0, longest)}...` : rule;
}
