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

const head = "apiVersion: graphform/v1\nname: shop\n";
const orders = `${head}instances:
  orders:
    tier: enterprise
    component: standalone
    cloudProvider: aws
    region: us-east-1
`;
const user = `${orders}users:
  reader:
    instance: orders
    username: reader
    password: \${env.READER}
    acl: "~* +PING"
`;

function row(reason: string, text: string, problems: string | readonly string[], says: string, hint: string): Broken {
  return { reason, text, problems: typeof problems === "string" ? [problems] : problems, says, hint };
}

/** YAML that is no manifest, or no YAML. */
const yaml: readonly Broken[] = [
  row("nothing at all", "", "1:1 empty", "empty", "graphform init"),
  row("only a comment", "# soon\n", "1:1 empty", "empty", "apiVersion"),
  row("only a document marker", "---\n", "1:1 empty", "empty", "apiVersion"),
  row("a list", "- a\n- b\n", "1:1 not-a-map", "map of keys", "apiVersion"),
  row("a word", "hello\n", "1:1 not-a-map", "map of keys", "apiVersion"),
  row("a tab as indentation", `${head}guards:\n\tmaxDeletes: 1\n`, "4:1 yaml", "tab", "spaces"),
  row("a key twice", `${head}name: other\n`, "3:1 duplicate-key", '"name"', "remove one"),
  row("a key twice, deep inside", `${orders}    region: eu-west-1\n`, "9:5 duplicate-key", '"region"', "remove one"),
  row("a key twice, once in quotes", `${head}"name": other\n`, "3:1 duplicate-key", '"name"', "remove one"),
  row("two documents", `${head}---\n${head}`, "3:1 several-documents", "second YAML document", "-f"),
  row("a merge key", `${orders}    <<: { power: running }\n`, "9:5 merge-key", "<<", "defaults"),
  row("a merge key with an alias", `${head}guards: &g { maxDeletes: 1 }\noutputs:\n  <<: *g\n`, "5:3 merge-key", "<<", "forEach"),
  row("a key that is a list", `${head}? [a, b]\n: 1\n`, "3:3 bad-key", "plain text", "in quotes"),
  row("a key that is an alias", `${head}guards: &g { maxDeletes: 1 }\n*g : 1\n`, "4:1 bad-key", "plain text", "in quotes"),
  row("__proto__", `${head}instances:\n  __proto__: { tier: free }\n`, "4:3 reserved-key", "__proto__", "another name"),
  row("__proto__ in a setting", `${orders}    config: { "__proto__": { polluted: yes } }\n`, "9:15 reserved-key", "__proto__", "another"),
  row("a forged secret", `${orders}    config: { graphdbPassword: { $secret: abc } }\n`, "9:34 reserved-key", "$secret", "${secret.name}"),
  row("a forged template", `${head}outputs:\n  x: { value: { $template: [a] } }\n`, "4:17 reserved-key", "$template", "output"),
  row("an unknown tag", `${head}outputs: { x: !ruby/object:Foo { a: 1 } }\n`, "3:15 unknown-tag", "not known", "remove the tag"),
  row("a binary tag", `${head}outputs: { x: !!binary aGk= }\n`, "3:15 unknown-tag", "not known", "remove the tag"),
  row("an alias without an anchor", `${head}guards: *nothing\n`, "3:9 yaml", "*nothing", "&nothing"),
  row("an alias that holds itself", `${head}outputs: { x: &x [*x] }\n`, "3:19 alias-bomb", "holds itself", "write the values out"),
  row("a bracket that is not closed", `${head}imports: [{ address: x\n`, "4:1 yaml", "flow", "close the bracket"),
  row("a quote that is not closed", `${head}state: { backend: "file }\n`, "4:1 yaml", "quote", "quote"),
  row("two colons in one line", `${head}guards: maxDeletes: 1\n`, "3:9 yaml", "nested mappings", "quotes"),
  row("a wrong indentation", `${orders}   config: {}\n`, "9:1 yaml", "same column", "align"),
  row("a text that begins with @", `${head}outputs: { x: @home }\n`, "3:15 yaml", "reserved character", "quotes"),
  row("an escape that is none", `${head}outputs: { x: "a\\qb" }\n`, "3:17 yaml", "escape", "backslash"),
  row("a key without a value", `${head}guards\n`, "3:1 yaml", "map values", '":"'),
  row("YAML 1.1", `%YAML 1.1\n---\n${head}`, "1:1 yaml-version", "1.2", "remove"),
  row("not a number", `${head}guards: { maxDeletes: .nan }\n`, "3:23 bad-number", ".nan", "finite"),
  row("infinity", `${head}guards: { maxChangePercent: -.inf }\n`, "3:29 bad-number", "-.inf", "finite"),
  row("10 000 brackets", `${head}outputs: ${"[".repeat(10_000)}${"]".repeat(10_000)}\n`, "3:*", "nested", "six levels"),
  row("10 000 dashes", `${head}outputs:\n  ${"- ".repeat(10_000)}a\n`, "4:*", "nested", "six levels"),
  row("100 levels", `${head}outputs: ${"{ a: ".repeat(100)}1${" }".repeat(100)}\n`, "3:* too-deep", "64 levels", "six levels"),
  row("a billion laughs", laughs(), "*", "stand for more than", "defaults"),
];

function laughs(): string {
  const lines = Array.from({ length: 9 }, (_, n) => `  l${n + 1}: &l${n + 1} [${Array.from({ length: 9 }, () => `*l${n}`).join(", ")}]`);
  return `${head}outputs:\n  l0: &l0 [lol]\n${lines.join("\n")}\n`;
}

/** The frame: everything but resources. */
const frame: readonly Broken[] = [
  row("no version", "name: shop\n", "1:1 missing-key", '"apiVersion"', "add it"),
  row("no name", "apiVersion: graphform/v1\n", "1:1 missing-key", '"name"', "scopes the state"),
  row("a newer version", "apiVersion: graphform/v2\nname: shop\n", "1:13 not-allowed", "graphform/v1", "write graphform/v1"),
  row("a name with a capital", "apiVersion: graphform/v1\nname: Shop\n", "2:7 bad-format", '"Shop"', "lower-case"),
  row("a name that is a number", "apiVersion: graphform/v1\nname: 12\n", "2:7 wrong-type", "must be text", "shop-prod"),
  row("a name that is too long", `apiVersion: graphform/v1\nname: ${"a".repeat(64)}\n`, "2:7 bad-format", "form", "at most 63"),
  row("an unknown section", `${head}instance:\n  a: {}\n`, "3:1 unknown-key", '"instance"', 'did you mean "instances"'),
  row("a section that is a list", `${head}instances:\n  - tier: free\n`, "3:1 wrong-type", "a map", "Each instance by name"),
  row("a section that is text", `${head}users: none\n`, "3:8 wrong-type", "a map", "by name"),
  row("an unknown key of service", `${head}service: { platformURL: https://a }\n`, "3:12 unknown-key", "platformURL", '"platformUrl"'),
  row("a URL that is none", `${head}service: { platformUrl: platform }\n`, "3:25 bad-format", "platform", "https://"),
  row("a negative guard", `${head}guards: { maxDeletes: -1 }\n`, "3:23 too-small", "at least 0", "0 or more"),
  row("half a deletion", `${head}guards: { maxDeletes: 0.5 }\n`, "3:23 wrong-type", "whole number", "0 or more"),
  row("more than everything", `${head}guards: { maxChangePercent: 101 }\n`, "3:29 too-large", "at most 100", "0 to 100"),
  row("an unknown disruption", `${head}guards: { maxDisruption: reboot }\n`, "3:26 not-allowed", "reboot", "data-loss"),
  row("a variable without a value", `${head}variables: { size: { type: number } }\n`, "3:14 missing-variable", '"size"', "--var size="),
  row("a default of another type", `${head}variables: { size: { type: number, default: big } }\n`, "3:45 wrong-type", "is a number", "write a number"),
  row("a default that is not allowed", `${head}variables: { r: { default: mars, allowed: [eu, us] } }\n`, "3:28 not-allowed", "mars", "eu, us"),
  row("a type that is none", `${head}variables: { r: { type: text, default: a } }\n`, "3:25 not-allowed", "text", "string"),
  row("a default with a reference", `${head}variables: { r: { default: "\${env.R}" } }\n`, "3:28 bad-reference", "reference", "--var"),
  row("a secret from two places", `${head}secrets: { a: { env: A, file: b } }\n`, "3:15 wrong-count", "exactly one", "env, file, command"),
  row("a secret from nowhere", `${head}secrets: { a: {} }\n`, "3:15 wrong-count", "exactly one", "env, file, command"),
  row("a secret written out", `${head}secrets: { a: hunter2 }\n`, "3:15 wrong-type", "a map", "{ env: NAME }"),
  row("a command that is a line", `${head}secrets: { a: { command: op read x } }\n`, "3:26 wrong-type", "a list", "no shell"),
  row("a variable that is not declared", `${head}variables: { region: { default: eu } }\nstate: { backend: "\${var.regin}" }\n`, "4:20 unknown-variable", '"regin"', '"region"'),
  row("a secret in the frame", `${head}service: { subscriptionId: "\${env.SUB}" }\n`, "3:29 secret-in-clear", "${env.SUB}", "variable"),
  row("an output in the frame", `${orders}guards: { maxDeletes: "\${instances.orders.port}" }\n`, "9:24 bad-reference", "after an apply", "variable"),
];

/** Resources: shape, fields, references. */
const resources: readonly Broken[] = [
  row("a resource that is text", `${head}instances:\n  orders: free\n`, "4:11 wrong-type", "a map", "keys and values"),
  row("a resource without anything", `${head}instances:\n  orders:\n`, "4:3 wrong-type", "empty", "{}"),
  row("a name with a dot", `${head}networks:\n  a.b: { cloudProvider: aws, region: eu, id: n-1 }\n`, "4:3 bad-name", '"a.b"', "letters, digits"),
  row("no tier", `${head}instances:\n  a: { component: free, cloudProvider: aws, region: eu }\n`, "4:3 missing-key", '"tier"', "Product tier"),
  row("a tier that is none", orders.replace("enterprise", "entreprise"), "5:11 not-allowed", "entreprise", '"enterprise"'),
  row("an unknown field", `${orders}    regoin: eu\n`, "9:5 unknown-key", '"regoin"', '"region"'),
  row("an unknown setting", `${orders}    config: { maxMemry: 6GB }\n`, "9:15 unknown-key", '"maxMemry" in config', '"maxMemory"'),
  row("a setting outside of config", `${orders}    maxMemory: 6GB\n`, "9:5 unknown-key", '"maxMemory"', "move it under config"),
  row("a field inside of config", `${orders}    config: { power: stopped }\n`, "9:15 unknown-key", '"power" in config', "move it out"),
  row("a field in the service's words", orders.replace("cloudProvider", "cloud_provider"), "7:5 unknown-key", '"cloud_provider"', "write cloudProvider"),
  row("an empty config", `${orders}    config:\n`, "9:5 wrong-type", "empty", "{}"),
  row("a number that is text", `${orders}    config: { graphDBCacheSize: "25" }\n`, "9:33 wrong-type", "whole number", "remove the quotes"),
  row("a text that is a number", `${orders}    config: { name: 2024 }\n`, "9:21 wrong-type", "must be text", '"2024"'),
  row("yes for true", `${orders}    config: { enableTLS: yes }\n`, "9:26 wrong-type", "true or false", "true or false"),
  row("on for true", `${orders}    config: { enableTLS: on }\n`, "9:26 wrong-type", '"on"', "true or false"),
  row("a date is text", `${orders}    config: { graphDBCacheSize: 2024-01-01 }\n`, "9:33 wrong-type", '"2024-01-01"', "1 to 256"),
  row("a number above its bound", `${orders}    config: { graphDBCacheSize: 257 }\n`, "9:33 too-large", "at most 256", "1 to 256"),
  row("a size that is none", `${orders}    config: { maxMemory: lots }\n`, "9:26 bad-format", '"lots"', "6GB"),
  row("a user with a dash", `${orders}    config: { graphdbUser: a-b }\n`, "9:28 bad-format", '"a-b"', "first user"),
  row("an empty password", `${orders}    config: { graphdbPassword: "" }\n`, "9:32 too-short", "must not be empty", "Password"),
  row("an unknown key of lifecycle", `${orders}    lifecycle: { prevent: true }\n`, "9:18 unknown-key", '"prevent" in lifecycle', "protect"),
  row("an unknown policy", `${orders}    lifecycle: { onDelete: keep }\n`, "9:28 not-allowed", '"keep"', "retain"),
  row("what comes later", `${orders}    lifecycle: { onReplace: preserve-data }\n`, "9:29 not-yet", "not there yet", "recreate"),
  row("an ignored field that is none", `${orders}    lifecycle: { ignoreChanges: [config.descripton] }\n`, "9:34 unknown-field", "config.descripton", '"config.description"'),
  row("a dependency that is not there", `${orders}    lifecycle: { dependsOn: [networks.core] }\n`, "9:30 unknown-resource", "networks.core", "declared under networks"),
  row("a dependency that is no address", `${orders}    lifecycle: { dependsOn: [core] }\n`, "9:30 bad-address", '"core"', "begins with"),
  row("a duration without a unit", `${orders}    timeouts: { create: 40 }\n`, "9:25 wrong-type", "must be text", '40m'),
  row("a duration in another unit", `${orders}    timeouts: { create: 40 minutes }\n`, "9:25 bad-format", "40 minutes", "40m"),
  row("a reference that is none", `${orders}    config: { name: "a-\${vars.x}" }\n`, "9:24 bad-reference", "vars", '"var"'),
  row("a reference that is not closed", `${orders}    config: { name: "a-\${var.x" }\n`, "9:24 bad-reference", "never closed", "}"),
  row("a reference to nothing", `${orders}    config: { name: "\${}" }\n`, "9:22 bad-reference", "${}", "${var.x}"),
  row("a variable that nobody declared", `${orders}    config: { name: "\${var.x}" }\n`, "9:22 unknown-variable", '"x"', "declared: none"),
  row("a variable called like a method", `${orders}    config: { name: "\${var.constructor}" }\n`, "9:22 unknown-variable", '"constructor"', "none"),
  row("a secret that nobody declared", `${head}secrets: { pass: { env: A } }\n${orders.slice(head.length)}    config: { graphdbPassword: "\${secret.pas}" }\n`, "10:33 unknown-secret", '"pas"', '"pass"'),
  row("each without forEach", `${orders}    config: { name: "\${each.key}" }\n`, "9:22 bad-reference", "outside of a forEach", "forEach"),
  row("a secret in a name", `${orders}    config: { name: "\${env.NAME}" }\n`, "9:22 secret-in-clear", "in clear in config.name", "config.graphdbPassword"),
  row("a secret in a description", `${orders}    config: { description: "it is \${secret.a}" }\nsecrets: { a: { env: A } }\n`, "9:35 secret-in-clear", "config.description", "variable"),
  row("a network that is not there", `${orders}    network: cor\nnetworks:\n  core: { id: n-1, cloudProvider: aws, region: us-east-1 }\n`, "9:14 unknown-resource", "networks.cor", '"core"'),
  row("a network by its address", `${orders}    network: networks.core\nnetworks:\n  core: { id: n-1, cloudProvider: aws, region: us-east-1 }\n`, "9:14 bad-reference", "no name under networks", "write core"),
  row("a network by its id", `${orders}    network: "\${networks.core.id}"\nnetworks:\n  core: { id: n-1, cloudProvider: aws, region: us-east-1 }\n`, "9:15 bad-reference", "after an apply", "name alone: core"),
  row("an output that is none", `${user}  other:\n    instance: orders\n    username: other\n    password: \${env.OTHER}\n    acl: "~\${instances.orders.hostname} +PING"\n`, "19:12 unknown-output", '"hostname"', "host"),
  row("an address without an output", `${orders}outputs: { a: "\${instances.orders}" }\n`, "9:16 unknown-output", "names no output", "endpoint"),
  row("an output of nobody", `${orders}outputs: { a: "\${instances.order.host}" }\n`, "9:16 unknown-resource", "instances.order", '"orders"'),
  row("a section that is none", `${orders}outputs: { a: "\${instance.orders.host}" }\n`, "9:16 bad-reference", '"instance"', '"instances"'),
  row("a tier known only later", `${orders.replace("enterprise", '"${instances.b.region}"')}`, "5:12 bad-reference", "after an apply", "variable"),
  row("a list inside text", `${orders}    config: { name: "a \${var.l}" }\nvariables: { l: { default: [a] } }\n`, "9:24 bad-reference", "is a list", "whole value"),
  row("it needs itself", `${orders}    lifecycle: { dependsOn: [instances.orders] }\n`, "4:3 cycle", "needs itself", "remove one"),
  row("a user of itself", `${user}    lifecycle: { dependsOn: [users.reader] }\n`, "10:3 cycle", "users.reader needs itself", "remove one"),
  row("a circle of three", circle(), "4:3 cycle", "instances.a -> instances.", "remove one"),
  row("a forEach over text", orders.replace("tier", "forEach: eu\n    tier"), "5:14 wrong-type", "list or a map", "[a, b]"),
  row("a forEach over maps", orders.replace("tier", "forEach: [{ a: 1 }]\n    tier"), "5:15 wrong-type", "must be text", "write a map"),
  row("a forEach with a key twice", orders.replace("tier", "forEach: [eu, us, eu]\n    tier"), "5:23 duplicate-key", '"eu"', "remove one"),
  row("a forEach over a secret", orders.replace("tier", "forEach: [\"${env.X}\"]\n    tier"), "5:16 secret-in-clear", "address", "variable"),
  row("a forEach over an output", orders.replace("tier", "forEach: [\"${instances.b.id}\"]\n    tier"), "5:16 bad-reference", "after an apply", "write the keys out"),
  row("one of several, not said which", `${several()}outputs: { a: "\${instances.orders.host}" }\n`, "10:16 unknown-resource", "which of them", 'instances.orders["eu"]'),
  row("one of several, with a wrong key", `${several()}outputs: { a: '\${instances.orders["ue"].host}' }\n`, "10:16 unknown-resource", "no such key", '"eu"'),
  row("one of several, where there is one", `${orders}outputs: { a: '\${instances.orders["eu"].host}' }\n`, "9:16 unknown-resource", "has no forEach", "write instances.orders"),
  row("a part that a turn lacks", several().replace("tier: enterprise", 'tier: "${each.value.tier}"'), ["6:12 bad-reference", "6:12 bad-reference"], '"tier"', "only a map"),
];

function several(): string {
  return orders.replace("tier", "forEach: [eu, us]\n    tier");
}

function circle(): string {
  const one = (name: string, other: string): string =>
    `  ${name}: { tier: free, component: free, cloudProvider: aws, region: eu, lifecycle: { dependsOn: [instances.${other}] } }\n`;
  return `${head}instances:\n${one("a", "b")}${one("b", "c")}${one("c", "a")}`;
}

/** Lists that bind, move and remove, outputs, and the rules across resources. */
const across: readonly Broken[] = [
  row("an import without an id", `${orders}imports: [{ address: instances.orders }]\n`, "9:11 missing-key", '"id" is missing in imports[0]', "Id of the object"),
  row("an import of nobody", `${orders}imports: [{ address: instances.order, id: i-1 }]\n`, "9:22 unknown-resource", "instances.order", '"orders"'),
  row("two imports of one id", `${orders}  other: { tier: free, component: free, cloudProvider: aws, region: eu }\nimports: [{ address: instances.orders, id: i-1 }, { address: instances.other, id: i-1 }]\n`, "10:83 shared-id", "both bound", "its own id"),
  row("two ids for one address", `${orders}imports: [{ address: instances.orders, id: i-1 }, { address: instances.orders, id: i-2 }]\n`, "9:84 shared-id", "bound to", "one object"),
  row("two networks with one id", `${head}networks:\n  a: { id: n-1, cloudProvider: aws, region: eu }\n  b: { id: n-1, cloudProvider: aws, region: eu }\n`, "5:12 shared-id", "both bound", "its own id"),
  row("a move to nowhere", `${orders}moved: [{ from: instances.a, to: instances.b }]\n`, "9:34 unknown-resource", "instances.b", "declared under"),
  row("a move to itself", `${orders}moved: [{ from: instances.orders, to: instances.orders }]\n`, "9:39 bad-move", "itself", "remove the entry"),
  row("a move between kinds", `${orders}moved: [{ from: networks.orders, to: instances.orders }]\n`, "9:38 bad-move", "one kind", "within a section"),
  row("a move of what is still there", `${orders}  b: { tier: free, component: free, cloudProvider: aws, region: eu }\nmoved: [{ from: instances.b, to: instances.orders }]\n`, "10:17 bad-move", "still declared", "remove the block"),
  row("two moves to one address", `${orders}moved: [{ from: instances.a, to: instances.orders }, { from: instances.b, to: instances.orders }]\n`, "9:79 bad-move", "two addresses", "keep one"),
  row("a removal of what is still there", `${orders}removed: [{ address: instances.orders, destroy: false }]\n`, "9:22 bad-removal", "still declared", "remove the block"),
  row("a removal that does not say how", `${orders}removed: [{ address: instances.old }]\n`, "9:11 missing-key", '"destroy"', "leaves it running"),
  row("a date that is none", `${orders}removed: [{ address: instances.old, destroy: true, until: tomorrow }]\n`, "9:59 bad-format", "tomorrow", "2027-01-01"),
  row("an output in clear", `${head}secrets: { a: { env: A } }\noutputs: { a: "\${secret.a}" }\n`, "4:16 secret-in-clear", "printed in clear", "sensitive: true"),
  row("an output without a value", `${head}outputs: { a: { sensitive: true } }\n`, "3:12 missing-key", '"value"', "what the output shows"),
  row("an output that is a map", `${head}outputs: { a: { value: 1, host: x } }\n`, "3:27 unknown-key", '"host"', "under value"),
  row("a field that the tier lacks", orders.replace("enterprise", "startup") + "    config: { maxMemory: 1GB }\n", "9:26 tier-field", "startup", "enterprise-byoa, enterprise"),
  row("a component that the tier lacks", orders.replace("standalone", "single-zon"), "6:16 unknown-component", "single-zon", '"single-zone"'),
  row("an account that the tier needs", orders.replace("enterprise", "enterprise-byoa"), "4:3 missing-key", '"cloudAccount"', "cloudAccounts"),
  row("an account that the tier lacks", `${orders}    nativeNetworkId: vpc-1\n`, "9:22 tier-field", "nativeNetworkId", "enterprise-byoa"),
  row("more memory than there is", `${orders}    config: { maxMemory: 9GB, nodeInstanceType: m7g.large }\n`, "9:26 too-large", "8 GB of m7g.large", "r7g.large"),
  row("a type that the tier does not list", `${orders.replace("enterprise", "pro")}    config: { nodeInstanceType: m7g.larg }\n`, "9:33 unknown-type", "m7g.larg", '"m7g.large"'),
  row("a default timeout above the longest", `${orders}    config: { graphDBTimeoutDefault: 2, graphDBTimeoutMax: 1 }\n`, "9:38 too-large", "above graphDBTimeoutMax", "at most 1"),
  row("a network in another region", `${orders}    network: core\nnetworks:\n  core: { id: n-1, cloudProvider: aws, region: eu }\n`, "9:14 place-mismatch", "region eu", "networks"),
  row("a network without an id", `${head}networks:\n  core: { cloudProvider: aws, region: eu }\n`, "4:3 missing-key", '"id"', "existing network"),
  row("an account with another's field", `${head}cloudAccounts:\n  a:\n    cloudProvider: azure\n    config: { azure_subscription_id: s, azure_tenant_id: t, account_configuration_method: Terraform, gcp_project_id: p }\n`, "6:118 provider-field", "gcp_project_id", "belongs to gcp"),
  row("a command outside of the list", user.replace("+PING", "+PIN"), "14:10 acl-command", "+PIN", '"PING"'),
  row("a short user name", user.replace("username: reader", "username: me"), "12:15 too-short", "at least 3", "longer"),
  row("two users with one name", `${user}  copy: { instance: orders, username: reader, password: "\${env.B}", acl: +PING }\n`, "15:39 duplicate-user", "users.reader", "its own name"),
];

export const brokenManifests: readonly Broken[] = [...yaml, ...frame, ...resources, ...across];
