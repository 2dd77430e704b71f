import { cpSync, existsSync, globSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, type LocalPlatform, platformUp } from "../support/local-platform.ts";
import { actionsIn, readPlan } from "../support/plan-document.ts";
import { openWorkspace, processesOf, type Workspace } from "../support/workspace.ts";

const folder = join(import.meta.dirname, "..", "..", "examples");

/** The value of an output. */
type Outputs = (name: string) => Promise<string>;

type Checks = { readonly [name: string]: (output: Outputs) => Promise<void> };

/** What an example needs, and how it is changed. */
interface Example {
  readonly platform: readonly string[];
  readonly env: { readonly [name: string]: string };
  /** Text of the manifest -> text in its place. */
  readonly edits: readonly (readonly [string, string])[];
  /** What the edits come to: addresses and actions, in no order. */
  readonly changed: { readonly [address: string]: readonly string[] };
  readonly count: number;
  /** What lifts the protection, so that it can be destroyed. */
  readonly unprotected?: readonly [string, string];
  /** Processes of its databases. */
  readonly nodes: number;
  /** How many runs it takes to destroy it: a person stands between two of them. */
  readonly runs: number;
  /** What can be done with it once it is applied, and once it is changed. */
  readonly applied: Checks;
  readonly after: Checks;
}

/** The profile of the example with an account, whose bootstrap a simulated person runs. */
const networks = "profiles/local-networks.yaml";

const owner = { username: "app", password: "database-password" };
const reader = { username: "reader", password: "reader-password" };
const warmer = { username: "warmer", password: "reader-password" };

const examples: { readonly [file: string]: Example } = {
  "quick-start.yaml": {
    platform: [],
    env: { SHOP_PASSWORD: "the-shop-password" },
    edits: [
      ["description: the order graph", "description: orders and what was bought"],
      ["{ name: scratch,", "{ name: scribble,"],
    ],
    changed: { "instances.orders": ["update"], "instances.scratch": ["update"] },
    count: 3,
    unprotected: ["region: us-east-1 }", "region: us-east-1, lifecycle: { protect: false } }"],
    nodes: 4,
    runs: 1,
    applied: {},
    after: {},
  },
  "everything.yaml": {
    platform: ["--networks", "full", "--auto-bootstrap"],
    env: { DATABASE_PASSWORD: "database-password", READER_PASSWORD: "reader-password" },
    edits: [
      ["name: core\n", "name: core-prod\n"],
      ["description: the order graph", "description: orders and what was bought"],
      ["+GRAPH.LIST +INFO +PING", "+INFO +PING"],
      ["forEach: [us-east-1, eu-west-1]", "forEach: [us-west-2, eu-west-1]"],
    ],
    changed: {
      "networks.core": ["update"],
      "instances.orders": ["update"],
      "users.reader": ["update"],
      'instances.cache["us-east-1"]': ["delete"],
      'instances.cache["us-west-2"]': ["create"],
    },
    count: 8,
    nodes: 5,
    runs: 2,
    applied: {
      "lets a declared user in, to do what it may and nothing else": async (output) => {
        const endpoint = await output("orders");
        await ask(endpoint, owner, "GRAPH.QUERY", "shop", "CREATE (:Item {name: 'engine'})");
        const found = await ask(endpoint, reader, "GRAPH.RO_QUERY", "shop", "MATCH (i:Item) RETURN i.name");
        expect(JSON.stringify(found)).toContain('[["engine"]]');
        expect(await ask(endpoint, reader, "GRAPH.LIST")).toEqual(["shop"]);
        const writing = ask(endpoint, reader, "GRAPH.QUERY", "shop", "CREATE (:Item)");
        await expect(writing).rejects.toThrow(/NOPERM/);
        await expect(ask(endpoint, reader, "FLUSHALL")).rejects.toThrow(/NOPERM/);
        await expect(ask(endpoint, { ...reader, password: "another" }, "PING")).rejects.toThrow(/WRONGPASS/);
      },
      "lets a user of one database into no other": async (output) => {
        expect(await ask(await output("europeanCache"), warmer, "PING")).toBe("PONG");
        await expect(ask(await output("orders"), warmer, "PING")).rejects.toThrow(/WRONGPASS/);
      },
    },
    after: {
      "takes a right away as soon as the rules do": async (output) => {
        const endpoint = await output("orders");
        await expect(ask(endpoint, reader, "GRAPH.LIST")).rejects.toThrow(/NOPERM/);
        expect(await ask(endpoint, reader, "PING")).toBe("PONG");
      },
    },
  },
};

/** An example whose life is a test of its own. */
const withOwnTest = (file: string): boolean =>
  existsSync(join(import.meta.dirname, file.replace(".yaml", ".test.ts")));

it("there is a row, or a test, for every example", () => {
  const found = globSync("*.yaml", { cwd: folder }).filter((file) => !withOwnTest(file));
  expect(Object.keys(examples).sort()).toEqual(found.sort());
});

describe.each(Object.entries(examples))("%s", (file, example) => {
  let user: Workspace;
  let platform: LocalPlatform;
  const output: Outputs = async (name) => (await run("output", name, "--raw")).out;
  const run = (...args: readonly string[]): ReturnType<Workspace["run"]> => user.run(...args, "-f", file);

  /** Sets how long waiting for a person may be a delay; the platform shows all else at once. */
  const setSettle = (settle: string): void => {
    const timing = `timing: { settle: ${settle}, listLag: 50ms, endpoint: 500ms, poll: { first: 50ms, longest: 300ms } }`;
    user.write(networks, user.read(networks).replace(/^timing: .*$/m, timing));
  };

  beforeAll(async () => {
    user = openWorkspace(undefined, { packaged: true });
    cpSync(folder, user.dir, { recursive: true });
    Object.assign(user.env, example.env);
    // A simulated person may be late on a busy machine: the apply waits for them until `settle` has passed.
    setSettle("60s");
    platform = await platformUp(user, ...example.platform);
  });
  afterAll(() => user.close());

  it("is applied from nothing, and needs nothing more", async () => {
    const planned = readPlan((await run("plan", "--json")).out);
    expect(Object.values(actionsIn(planned))).toEqual(
      Array.from({ length: example.count }, () => ["create"]),
    );
    expect(await platform.writes()).toEqual([]);
    const applied = await run("apply", "--auto-approve");
    setSettle("500ms");
    expect(applied).toMatchObject({
      code: 0,
      out: expect.stringContaining(`Resources: ${example.count} added, 0 changed`),
    });
    expect(`${applied.out}${applied.err}`).not.toMatch(/warning/i);
    expect(await run("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });
    expect(processesOf(user.dir)).toHaveLength(example.nodes + 1);
  });

  it.each(Object.entries(example.applied))("%s", (_name, check) => check(output));

  it("is changed as it says, by what was changed in it", async () => {
    const text = example.edits.reduce((before, [from, to]) => {
      expect(before).toContain(from);
      return before.replace(from, to);
    }, user.read(file));
    user.write(file, text);
    const planned = readPlan((await run("plan", "--json")).out);
    expect(actionsIn(planned)).toEqual(example.changed);
    expect(await run("apply", "--auto-approve")).toMatchObject({ code: 0 });
    expect(await run("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });
  });

  it.each(Object.entries(example.after))("%s", (_name, check) => check(output));

  it("is destroyed, and neither a process nor a file of it is left", async () => {
    if (example.unprotected !== undefined) user.write(file, user.read(file).replace(...example.unprotected));
    for (let left = example.runs; left > 1; left -= 1) {
      const waiting = await run("destroy", "--auto-approve");
      expect(waiting).toMatchObject({
        code: 8,
        out: expect.stringContaining("waits for a person"),
      });
    }
    expect(await run("destroy", "--auto-approve")).toMatchObject({ code: 0 });
    expect(user.state(file.replace(".yaml", ""))).toMatchObject({ resources: {}, intents: {} });
    expect(user.files().filter((path) => path.startsWith(".graphform/platform/databases/"))).toEqual([]);
    expect(processesOf(user.dir)).toEqual([platform.pid]);
  });
});
