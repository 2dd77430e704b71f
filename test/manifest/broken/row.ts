/** One broken manifest: why it is broken, its text, and every problem that must be found, as `line:column code`. */
export interface Broken {
  readonly reason: string;
  readonly text: string;
  readonly problems: readonly string[];
  /** Part of the first problem's message. */
  readonly says: string;
  /** Part of the first problem's hint. */
  readonly hint: string;
}

/** The two lines that every manifest begins with. */
export const head = "apiVersion: graphform/v1\nname: shop\n";
/** With one resource, whose fields stand on lines 5 to 8. */
export const orders: string = `${head}instances:
  orders:
    tier: enterprise
    component: standalone
    cloudProvider: aws
    region: us-east-1
`;
/** And with a user of it. */
export const user: string = `${orders}users:
  reader:
    instance: orders
    username: reader
    password: \${env.READER}
    acl: "~* +PING"
`;

/** One row of the tables. */
export function row(
  reason: string,
  text: string,
  problems: string | readonly string[],
  says: string,
  hint: string,
): Broken {
  return { reason, text, problems: typeof problems === "string" ? [problems] : problems, says, hint };
}
