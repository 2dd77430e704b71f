import { describe, expect, it } from "vitest";
import type { Manifest } from "../../src/model/manifest.ts";
import { check, line } from "./check.ts";

const head = "apiVersion: graphform/v1\nname: shop\n";

function instance(name: string, more: string, password = "${secret.pw}"): string {
  return `  ${name}: { ${more}tier: pro, component: standalone, cloudProvider: aws, region: us-east-1, config: { name: "${name}", nodeInstanceType: m7g.large, graphdbUser: app, graphdbPassword: "${password}" } }\n`;
}

async function resolved(text: string, inputs: Parameters<typeof check>[1] = {}): Promise<Manifest> {
  const { manifest, problems } = await check(head + text, inputs);
  expect(problems.map(line)).toEqual([]);
  return manifest ?? expect.fail("no manifest");
}

async function problemsOf(text: string): Promise<readonly string[]> {
  return (await check(head + text)).problems.map(({ code, message, hint }) => `${code}: ${message}; ${hint}`);
}

const desired = ({ desired }: Manifest, address: string): Manifest["desired"][number] =>
  desired.find((entry) => entry.address === address) ?? expect.fail(`no ${address}`);

describe("a secret for each entry of forEach", () => {
  const entry = "${secret.pw[each.key]}";
  const cache = `instances:\n${instance("cache", "forEach: [us-east-1, eu], ", entry)}`;

  it.each([
    ["the environment", 'env: "CACHE_${each.key}"', { env: "CACHE_US_EAST_1" }, { env: "CACHE_EU" }],
    ["a file", 'file: "/run/${each.key}/pw"', { file: "/run/us-east-1/pw" }, { file: "/run/eu/pw" }],
    [
      "a command",
      'command: [op, read, "db/${ each.key }"]',
      { command: ["op", "read", "db/us-east-1"], variables: [] },
      { command: ["op", "read", "db/eu"], variables: [] },
    ],
  ])("is read from %s, each from its own place", async (_, source, first, second) => {
    const read: unknown[] = [];
    const manifest = await resolved(`secrets: { pw: { ${source} } }\n${cache}`, {
      secretText: (name, from) => {
        read.push([name, from]);
        return `text of ${name}`;
      },
    });
    expect(read).toEqual([
      ['secret.pw["us-east-1"]', first],
      ['secret.pw["eu"]', second],
    ]);
    expect(desired(manifest, 'instances.cache["eu"]').spec["config.graphdbPassword"]).toEqual({
      $secret: 'sealed text of secret.pw["eu"]',
    });
  });

  it("can be named by its key elsewhere, as by a user of one of them", async () => {
    const manifest = await resolved(
      `secrets: { pw: { env: "CACHE_\${each.key}" } }\n${cache}users:\n  reader: { instance: 'cache["eu"]', username: reader, password: '\${secret.pw["eu"]}', acl: "~* +PING" }\n`,
    );
    expect(desired(manifest, "users.reader").spec["password"]).toEqual({
      $secret: 'sealed text of secret.pw["eu"]',
    });
  });

  it("stands in the defaults of a section too", async () => {
    const manifest = await resolved(
      `secrets: { pw: { env: "CACHE_\${each.key}" } }\ndefaults: { instances: { config: { graphdbPassword: "${entry}" } } }\n${cache.replace(`, graphdbPassword: "${entry}"`, "")}`,
    );
    expect(desired(manifest, 'instances.cache["eu"]').spec["config.graphdbPassword"]).toEqual({
      $secret: 'sealed text of secret.pw["eu"]',
    });
  });

  it.each([
    [
      "no key",
      'env: "CACHE_${each.key}"',
      "${secret.pw}",
      "each entry has a secret of its own; write ${secret.pw[each.key]}",
    ],
    ["one source for all", "env: CACHE", entry, "every entry has the same secret; write ${secret.pw}"],
    [
      "half a key",
      'env: "CACHE_${each.key}"',
      "${secret.pw[each]}",
      "is not a reference; write ${secret.name}",
    ],
  ])("is a problem with %s", async (_, source, use, said) => {
    const text = `secrets: { pw: { ${source} } }\ninstances:\n${instance("cache", "forEach: [a, b], ", use)}`;
    expect((await problemsOf(text)).join("\n")).toContain(said);
  });

  it("is a problem where two keys make the name of one variable, and none in files", async () => {
    const use = `instances:\n${instance("cache", "forEach: [a-b, a_b, c], ", entry)}`;
    const [problem, ...others] = await problemsOf(`secrets: { pw: { env: "CACHE_\${each.key}" } }\n${use}`);
    const said = 'shared-secret: secret.pw["a_b"] and secret.pw["a-b"] would both be read from';
    expect(problem).toContain(`${said} the environment variable CACHE_A_B; let the keys differ in more`);
    expect(others).toEqual([]);
    expect(await problemsOf(`secrets: { pw: { file: "\${each.key}" } }\n${use}`)).toEqual([]);
  });

  it("is a problem outside of a forEach", async () => {
    const text = `secrets: { pw: { env: "CACHE_\${each.key}" } }\ninstances:\n${instance("cache", "", entry)}`;
    expect(await problemsOf(text)).toEqual([expect.stringContaining("is used outside of a forEach")]);
  });
});

describe("a resource that is left out", () => {
  const secrets = "secrets: { pw: { env: PW }, other: { env: OTHER } }\n";

  it("is not declared, needs no secret, and says why it goes and under which guards", async () => {
    const names: string[] = [];
    const manifest = await resolved(
      `${secrets}instances:\n${instance("orders", "")}${instance("cache", "enabled: false, lifecycle: { protect: true, onDelete: backup }, ", "${secret.other}")}`,
      {
        secretText: (name) => {
          names.push(name);
          return "a-text-of-twelve";
        },
      },
    );
    expect(manifest.desired.map(({ address }) => address)).toEqual(["instances.orders"]);
    expect(names).toEqual(["secret.pw"]);
    expect(manifest.removed).toMatchObject([
      {
        address: "instances.cache",
        destroy: true,
        reason: "left out: its enabled is false",
        where: { start: { line: 6 } },
        lifecycle: { protect: true, onDelete: "backup" },
      },
    ]);
  });

  it.each([
    [
      "a variable",
      "variables: { small: { default: true, type: boolean } }\n",
      "enabled: '${var.small}', ",
      {},
      true,
    ],
    [
      "another value of it",
      "variables: { small: { default: true, type: boolean } }\n",
      "enabled: '${var.small}', ",
      { small: "false" },
      false,
    ],
    ["a default of its section", "defaults: { instances: { enabled: false } }\n", "", {}, false],
    [
      "itself against that default",
      "defaults: { instances: { enabled: false } }\n",
      "enabled: true, ",
      {},
      true,
    ],
  ])("is decided by %s", async (_, before, own, variables, isThere) => {
    const manifest = await resolved(`${secrets}${before}instances:\n${instance("cache", own)}`, {
      variables,
    });
    expect(manifest.desired).toHaveLength(isThere ? 1 : 0);
  });

  it("may be one entry of a forEach", async () => {
    const manifest = await resolved(
      `${secrets}instances:\n${instance("cache", "forEach: { us: { on: true }, eu: { on: false } }, enabled: '${each.value.on}', ")}`,
    );
    expect(manifest.desired.map(({ address }) => address)).toEqual(['instances.cache["us"]']);
    expect(manifest.removed.map(({ address }) => address)).toEqual(['instances.cache["eu"]']);
  });

  it("is left out by a layer", async () => {
    const { manifest } = await check([
      ["base.yaml", `${head}${secrets}instances:\n${instance("cache", "")}`],
      ["test.yaml", "instances: { cache: { enabled: false } }\n"],
    ]);
    expect(manifest?.desired).toEqual([]);
  });

  it("is let go of, and not deleted, where `removed` says so", async () => {
    const manifest = await resolved(
      `${secrets}instances:\n${instance("cache", "enabled: false, ")}removed: [{ address: instances.cache, destroy: false }]\n`,
    );
    expect(manifest.removed).toMatchObject([{ address: "instances.cache", destroy: false }]);
  });

  it.each([
    ["an output", "outputs: { host: '${instances.cache.host}' }\n", "instances.cache is left out here"],
    [
      "a user",
      "users:\n  reader: { instance: cache, username: reader, password: '${secret.pw}', acl: '~* +PING' }\n",
      "instances.cache is left out here",
    ],
    ["an import", "imports: [{ address: instances.cache, id: x }]\n", "instances.cache is left out here"],
  ])("is a problem for %s that refers to it", async (_, more, said) => {
    const problems = await problemsOf(
      `${secrets}instances:\n${instance("cache", "enabled: false, ")}${more}`,
    );
    expect(problems).toEqual([expect.stringContaining(said)]);
  });

  it("wants true or false", async () => {
    const problems = await problemsOf(`${secrets}instances:\n${instance("cache", 'enabled: "no", ')}`);
    expect(problems).toEqual([expect.stringContaining("enabled must be true or false")]);
  });
});

describe("all of a forEach in one output", () => {
  const secrets = "secrets: { pw: { env: PW } }\n";

  it("is a map of key and value, without what is left out", async () => {
    const manifest = await resolved(
      `${secrets}instances:\n${instance("cache", "forEach: { us: {}, eu: {}, ap: { off: true } }, ")}outputs: { endpoints: "\${instances.cache[*].endpoint}" }\n`,
    );
    expect(manifest.outputs["endpoints"]?.value).toEqual({
      us: { $template: [{ $ref: 'instances.cache["us"].endpoint' }] },
      eu: { $template: [{ $ref: 'instances.cache["eu"].endpoint' }] },
      ap: { $template: [{ $ref: 'instances.cache["ap"].endpoint' }] },
    });
  });

  it.each([
    [
      "one resource",
      "",
      "${instances.cache[*].endpoint}",
      "instances.cache has no forEach; write ${instances.cache.endpoint}",
    ],
    [
      "an unknown output",
      "forEach: [us], ",
      "${instances.cache[*].adress}",
      'instances have no output "adress"',
    ],
    ["an unknown name", "forEach: [us], ", "${instances.cash[*].endpoint}", "there is no instances.cash"],
    [
      "a text around it",
      "forEach: [us], ",
      "at ${instances.cache[*].endpoint}",
      "is a map and cannot stand inside text",
    ],
  ])("is a problem with %s", async (_, own, value, said) => {
    const text = `${secrets}instances:\n${instance("cache", own)}outputs: { endpoints: "${value}" }\n`;
    expect((await problemsOf(text)).join()).toContain(said);
  });

  it("has no place in a field", async () => {
    const text = `${secrets}instances:\n${instance("cache", "forEach: [us], ")}${instance("orders", "").replace('name: "orders"', "name: orders, description: '${instances.cache[*].host}'")}`;
    expect((await problemsOf(text)).join()).toContain("is a map of several values");
  });
});

describe("a prefix for names", () => {
  it("stands before each name at the service, and before no address", async () => {
    const manifest = await resolved(
      `namePrefix: \${var.stage}-\nvariables: { stage: { default: test } }\nsecrets: { pw: { env: PW } }\nnetworks: { old: { id: n-1, name: old, cloudProvider: aws, region: us-east-1 } }\ninstances:\n${instance("orders", "")}`,
    );
    expect(desired(manifest, "instances.orders").spec["config.name"]).toBe("test-orders");
    expect(desired(manifest, "networks.old").spec["name"]).toBe("old");
  });

  it("is checked, alone and with the name", async () => {
    expect((await problemsOf('namePrefix: "no blanks"\n')).join()).toContain("namePrefix");
  });
});
