/** Commands that a database user may be granted: the 52 of the users host. */
export const allowedCommands: ReadonlySet<string> = new Set(
  `INFO CLIENT DBSIZE PING HELLO AUTH RESTORE DUMP DEL EXISTS UNLINK TYPE FLUSHALL TOUCH EXPIRE PEXPIREAT TTL PTTL
   EXPIRETIME RENAME RENAMENX SCAN DISCARD EXEC MULTI UNWATCH WATCH ECHO SLOWLOG WAIT WAITAOF READONLY GRAPH.INFO
   GRAPH.LIST GRAPH.QUERY GRAPH.RO_QUERY GRAPH.EXPLAIN GRAPH.PROFILE GRAPH.DELETE GRAPH.CONSTRAINT GRAPH.SLOWLOG
   GRAPH.BULK GRAPH.CONFIG GRAPH.COPY CLUSTER COMMAND GRAPH.MEMORY MEMORY BGREWRITEAOF MODULE|LIST MONITOR GRAPH.UDF`.split(
    /\s+/,
  ),
);

/**
 * The granted commands of an ACL that are not allowed. Only tokens that start with + are looked at, in any case; a
 * subcommand `X|sub` is allowed where X is. Single quotes group.
 */
export function forbiddenCommands(acl: string): readonly string[] {
  const tokens = acl.match(/(?:'[^']*'|[^\s'])+/g) ?? [];
  return tokens
    .filter((token) => token.startsWith("+"))
    .map((token) => token.slice(1).toUpperCase())
    .filter((command) => !allowedCommands.has(command) && !allowedCommands.has(command.split("|")[0] ?? ""));
}
