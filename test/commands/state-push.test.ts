import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { StateDocument } from "../../src/model/state.ts";
import { stateFormatter } from "../../src/state/document.ts";
import { type ErroredState, erroredText } from "../../src/state/errored-file.ts";
import { stateDigest } from "../../src/state/errored-state.ts";
import { sampleBound, sampleState } from "../state/samples.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { startTerraformServer, type TerraformServer } from "../support/terraform-server.ts";
import { type Ran, run } from "./harness.ts";

const format = stateFormatter();
const stored = sampleState();
const made = { address: "instances.next", id: "instance-77" };
/** What a run knew when its store went away. */
const known: StateDocument = {
  ...stored,
  serial: 5,
  resources: { ...stored.resources, [made.address]: sampleBound(made.id) },
  intents: {},
  rounds: {},
};

let server: TerraformServer;
let folder: string;
let file: string;
let errored: ErroredState;

beforeEach(async () => {
  server = await startTerraformServer("plain");
  folder = temporaryFolder("state");
  file = join(folder, ".graphform", "shop.errored.state.json");
  const section = { type: "http", address: server.address, lockAddress: server.lockAddress };
  const manifest = `apiVersion: graphform/v1\nname: shop\nstate: ${JSON.stringify(section)}\n`;
  await writeFile(join(folder, "graphform.yaml"), manifest);
  await mkdir(join(folder, ".graphform"));
  server.document = format(stored);
  errored = { where: server.address, state: known, follows: [stateDigest(stored)], created: [made] };
  await writeFile(file, erroredText(errored));
});
afterEach(() => server.close());

function gf(...args: readonly string[]): Promise<Ran> {
  const variables = {
    // Nothing is asked there: the lock comes first.
    GRAPHFORM_PLATFORM_URL: "http://127.0.0.1:9",
    GRAPHFORM_USERNAME: "a@example.com",
    GRAPHFORM_PASSWORD: "none",
    GRAPHFORM_STATE_USERNAME: server.username,
    GRAPHFORM_STATE_PASSWORD: server.password,
  };
  return run([...args, "-f", join(folder, "graphform.yaml")], variables);
}

/** The stored state. */
function now(): StateDocument {
  return JSON.parse(server.document ?? "");
}

/** Somebody else writes. */
function others(change: Partial<StateDocument>): void {
  server.document = format({ ...stored, serial: 9, ...change });
}

describe("a file with what could not be stored", () => {
  it.each([
    ["apply", "--auto-approve"],
    ["destroy", "--auto-approve"],
    ["import", "instances.other", "instance-9"],
    ["state", "mv", "instances.db0", "instances.moved"],
    ["state", "rm", "instances.db0"],
    ["state", "rebind"],
    ["state", "migrate", "--to", "elsewhere.json"],
  ])("keeps every command from changing anything: %s %s", async (...args) => {
    expect(await gf(...args)).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /errored\.state\.json has changes of an earlier run that could not be stored at .*: instances\.next is instance-77\n[\s\S]*graphform state push [\s\S]*to go on without it: mv /,
      ),
    });
    expect(now()).toEqual(stored);
    expect(server.lock).toBeUndefined();
    expect(existsSync(file)).toBe(true);
  });

  it("is pushed by the words that are printed, also where the place depends on a variable of the run", async () => {
    const gitlab = await startTerraformServer("gitlab");
    onTestFinished(() => gitlab.close());
    gitlab.document = format(stored);
    await writeFile(file, erroredText({ ...errored, where: gitlab.address }));
    const [, last = ""] = /([^/]+)$/.exec(gitlab.address) ?? [];
    const address = `${gitlab.address.slice(0, -last.length)}\${var.stage}`;
    const manifest = `apiVersion: graphform/v1\nname: shop\nvariables: { stage: { type: string, default: dev } }\nstate: ${JSON.stringify({ type: "http", address })}\n`;
    await writeFile(join(folder, "graphform.yaml"), manifest);
    const { err } = await gf("apply", "--auto-approve", "--var", `stage=${last}`);
    const [, words = "none"] = /graphform (state push .*?), then/.exec(err) ?? [];
    expect(await gf(...words.split(" "))).toMatchObject({ code: 0 });
    expect(gitlab.document).toContain(made.id);
    const listed = await gf("state", "list", "--var", `stage=${last}`);
    expect(listed.out).toContain(made.id);
  });

  it.each([["list"], ["pull"], ["history"], ["unlock"]])("lets state %s go on", async (command) => {
    expect(await gf("state", command)).toMatchObject({ code: 0 });
    expect(existsSync(file)).toBe(true);
  });

  it("is counted in by show, which says so", async () => {
    expect(await gf("show")).toMatchObject({
      code: 0,
      out: expect.stringContaining("instance-77"),
      err: expect.stringMatching(/^warning: .*this counts it in, and nothing is changed before/),
    });
  });

  it("has no key, and is stored with the one of the stored state; then it is gone", async () => {
    expect(await readFile(file, "utf8")).not.toContain(stored.key);
    expect(await gf("state", "push", file)).toMatchObject({
      code: 0,
      out: expect.stringContaining("is at version 5 now, 3 resources."),
      err: expect.stringContaining("is not needed any more, and was removed"),
    });
    expect(now()).toMatchObject({ key: stored.key, serial: 5, resources: known.resources, intents: {} });
    expect(existsSync(file)).toBe(false);
    expect(await gf("state", "rm", "instances.db0")).toMatchObject({ code: 0 });
    expect(await gf("state", "push", file)).toMatchObject({
      code: 1,
      err: expect.stringContaining("one that was stored is removed"),
    });
  });

  it.each<[string, Partial<StateDocument>]>([
    ["was pushed from elsewhere", { ...known, serial: 9 }],
    ["was found by another run", { resources: { "instances.other": sampleBound(made.id) }, intents: {} }],
  ])("is removed by whoever comes next where what it says %s", async (_, change) => {
    others(change);
    expect(await gf("state", "rm", Object.keys(now().resources)[0] ?? "")).toMatchObject({ code: 0 });
    expect(existsSync(file)).toBe(false);
  });

  it("is not stored over what somebody has written since; the ids and a way to bind them are said", async () => {
    others({ appliedPlans: ["another"] });
    const before = server.document;
    for (const args of [
      ["state", "push", file],
      ["apply", "--auto-approve"],
    ])
      expect(await gf(...args)).toMatchObject({
        code: 1,
        err: expect.stringMatching(
          /instances\.next is instance-77[\s\S]*mv \S+ \S+\.old[\s\S]*graphform import instances\.next instance-77/,
        ),
      });
    expect(server.document).toBe(before);
    expect(existsSync(file)).toBe(true);
  });

  it.each<[string, Partial<StateDocument> | undefined, string]>([
    ["a state of another history", { lineage: "another" }, "holds a state of another history"],
    ["nothing", undefined, "nothing is stored at"],
  ])("is not stored in place of %s", async (_, change, words) => {
    if (change === undefined) server.document = undefined;
    else others(change);
    const before = server.document;
    // The file is all that knows the objects: both say how to bind them, and apply makes none of them again.
    const binds = /would create every object once more[\s\S]*graphform import instances\.db0 instance-/;
    const pushed = await gf("state", "push", file);
    expect(pushed).toMatchObject({ code: 1, err: expect.stringContaining(words) });
    expect(pushed.err).toMatch(binds);
    const applied = await gf("apply", "--auto-approve");
    expect(applied).toMatchObject({
      code: 1,
      err: expect.stringContaining(words),
    });
    expect(applied.err).toMatch(binds);
    expect(server.document).toBe(before);
    expect(existsSync(file)).toBe(true);
  });

  it("of another state of the same manifest refuses nothing here, and is not pushed here", async () => {
    const there = {
      ...errored,
      where: "https://states.example.com/staging",
      state: { ...known, lineage: "b" },
    };
    await writeFile(file, erroredText(there));
    expect(await gf("state", "rm", "instances.db0")).toMatchObject({ code: 0 });
    expect(await gf("state", "push", file)).toMatchObject({
      code: 1,
      err: expect.stringContaining("the run worked with the state at https://states.example.com/staging"),
    });
    expect(existsSync(file)).toBe(true);
  });

  it.each<[string, (text: string) => string]>([
    ["was edited", (text) => text.replaceAll("instance-77", "instance-78")],
    ["was cut", (text) => text.slice(0, -40)],
    ["is empty", () => ""],
    ["is something else", () => JSON.stringify(stored)],
  ])("that %s is not stored, and is no reason to go on", async (_, change) => {
    await writeFile(file, change(erroredText(errored)));
    expect(await gf("state", "push", file)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/is not a state that a run could not store|was changed or cut short/),
    });
    expect(await gf("state", "rm", "instances.db0")).toMatchObject({
      code: 1,
      err: expect.stringMatching(/objects that are known nowhere else[\s\S]*mv /),
    });
    expect(now()).toEqual(stored);
    // The way out that it names.
    await writeFile(`${file}.old`, await readFile(file));
    await writeFile(file, erroredText({ ...errored, state: stored }));
    expect(await gf("state", "rm", "instances.db0")).toMatchObject({ code: 0 });
  });
});

it("a removal from the state that is not stored is not called done", async () => {
  const { length } = server.document ?? "";
  server.document = format({ ...known, intents: {} });
  server.limit = length / 2;
  const { code, out, err } = await gf("state", "rm", made.address);
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(err).toContain("could not be written to the end of the run");
  expect(now().resources).toHaveProperty([made.address]);
});
