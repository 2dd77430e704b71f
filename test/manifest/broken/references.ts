import { type Broken, head, orders, row, user } from "./row.ts";

/** References, forEach and circles. */
export const referencesBroken: readonly Broken[] = [
  row(
    "a reference that is none",
    `${orders}    config: { name: "a-\${vars.x}" }\n`,
    "9:24 bad-reference",
    "vars",
    '"var"',
  ),
  row(
    "a reference that is not closed",
    `${orders}    config: { name: "a-\${var.x" }\n`,
    "9:24 bad-reference",
    "never closed",
    "}",
  ),
  row(
    "a reference to nothing",
    `${orders}    config: { name: "\${}" }\n`,
    "9:22 bad-reference",
    "${}",
    "${var.x}",
  ),
  row(
    "a variable that nobody declared",
    `${orders}    config: { name: "\${var.x}" }\n`,
    "9:22 unknown-variable",
    '"x"',
    "declared: none",
  ),
  row(
    "a variable called like a method",
    `${orders}    config: { name: "\${var.constructor}" }\n`,
    "9:22 unknown-variable",
    '"constructor"',
    "none",
  ),
  row(
    "a secret that nobody declared",
    `${head}secrets: { pass: { env: A } }\n${orders.slice(head.length)}    config: { graphdbPassword: "\${secret.pas}" }\n`,
    "10:33 unknown-secret",
    '"pas"',
    '"pass"',
  ),
  row(
    "each without forEach",
    `${orders}    config: { name: "\${each.key}" }\n`,
    "9:22 bad-reference",
    "outside of a forEach",
    "forEach",
  ),
  row(
    "a secret in a name",
    `${orders}    config: { name: "\${env.NAME}" }\n`,
    "9:22 secret-in-clear",
    "in clear in config.name",
    "config.graphdbPassword",
  ),
  row(
    "a secret in a description",
    `${orders}    config: { description: "it is \${secret.a}" }\nsecrets: { a: { env: A } }\n`,
    "9:35 secret-in-clear",
    "config.description",
    "variable",
  ),
  row(
    "a network that is not there",
    `${orders}    network: cor\nnetworks:\n  core: { id: n-1, cloudProvider: aws, region: us-east-1 }\n`,
    "9:14 unknown-resource",
    "networks.cor",
    '"core"',
  ),
  row(
    "a network by its address",
    `${orders}    network: networks.core\nnetworks:\n  core: { id: n-1, cloudProvider: aws, region: us-east-1 }\n`,
    "9:14 bad-reference",
    "not a name under networks",
    "write core",
  ),
  row(
    "a network by its id",
    `${orders}    network: "\${networks.core.id}"\nnetworks:\n  core: { id: n-1, cloudProvider: aws, region: us-east-1 }\n`,
    "9:15 bad-reference",
    "after an apply",
    "name alone: core",
  ),
  row(
    "an output that is none",
    `${user}  other:\n    instance: orders\n    username: other\n    password: \${env.OTHER}\n    acl: "~\${instances.orders.hostname} +PING"\n`,
    "19:12 unknown-output",
    '"hostname"',
    "host",
  ),
  row(
    "an address without an output",
    `${orders}outputs: { a: "\${instances.orders}" }\n`,
    "9:16 unknown-output",
    "names no output",
    "endpoint",
  ),
  row(
    "an output of nobody",
    `${orders}outputs: { a: "\${instances.order.host}" }\n`,
    "9:16 unknown-resource",
    "instances.order",
    '"orders"',
  ),
  row(
    "a section that is none",
    `${orders}outputs: { a: "\${instance.orders.host}" }\n`,
    "9:16 bad-reference",
    '"instance"',
    '"instances"',
  ),
  row(
    "a tier known only later",
    `${orders.replace("enterprise", '"${instances.b.region}"')}`,
    "5:12 bad-reference",
    "after an apply",
    "variable",
  ),
  row(
    "a list inside text",
    `${orders}    config: { name: "a \${var.l}" }\nvariables: { l: { default: [a] } }\n`,
    "9:24 bad-reference",
    "is a list",
    "whole value",
  ),
  row(
    "it needs itself",
    `${orders}    lifecycle: { dependsOn: [instances.orders] }\n`,
    "4:3 cycle",
    "needs itself",
    "remove one",
  ),
  row(
    "a user of itself",
    `${user}    lifecycle: { dependsOn: [users.reader] }\n`,
    "10:3 cycle",
    "users.reader needs itself",
    "remove one",
  ),
  row("a circle of three", circle(), "4:3 cycle", "instances.a -> instances.", "remove one"),
  row(
    "a forEach over text",
    orders.replace("tier", "forEach: eu\n    tier"),
    "5:14 wrong-type",
    "list or a map",
    "[a, b]",
  ),
  row(
    "a forEach over maps",
    orders.replace("tier", "forEach: [{ a: 1 }]\n    tier"),
    "5:15 wrong-type",
    "must be text",
    "write a map",
  ),
  row(
    "a forEach with a key twice",
    orders.replace("tier", "forEach: [eu, us, eu]\n    tier"),
    "5:23 duplicate-key",
    '"eu"',
    "remove one",
  ),
  row(
    "a forEach over a secret",
    orders.replace("tier", 'forEach: ["${env.X}"]\n    tier'),
    "5:16 secret-in-clear",
    "address",
    "variable",
  ),
  row(
    "a forEach over an output",
    orders.replace("tier", 'forEach: ["${instances.b.id}"]\n    tier'),
    "5:16 bad-reference",
    "after an apply",
    "write the keys out",
  ),
  row(
    "one of several, not said which",
    `${several()}outputs: { a: "\${instances.orders.host}" }\n`,
    "10:16 unknown-resource",
    "add the key of one of them",
    'instances.orders["eu"]',
  ),
  row(
    "one of several, with a wrong key",
    `${several()}outputs: { a: '\${instances.orders["ue"].host}' }\n`,
    "10:16 unknown-resource",
    "no such key",
    '"eu"',
  ),
  row(
    "one of several, where there is one",
    `${orders}outputs: { a: '\${instances.orders["eu"].host}' }\n`,
    "9:16 unknown-resource",
    "has no forEach",
    "write instances.orders",
  ),
  row(
    "a part that a turn lacks",
    several().replace("tier: enterprise", 'tier: "${each.value.tier}"'),
    ["6:12 bad-reference", "6:12 bad-reference"],
    '"tier"',
    "only a map",
  ),
];

function several(): string {
  return orders.replace("tier", "forEach: [eu, us]\n    tier");
}

function circle(): string {
  const one = (name: string, other: string): string =>
    `  ${name}: { tier: free, component: free, cloudProvider: aws, region: eu, lifecycle: { dependsOn: [instances.${other}] } }\n`;
  return `${head}instances:\n${one("a", "b")}${one("b", "c")}${one("c", "a")}`;
}
