import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Change, FieldChange } from "../../src/model/plan.ts";
import type { Sealed } from "../../src/model/sealed.ts";
import { assertSealed, readPlanFile, type SavedPlan, writePlanFile } from "../../src/state/plan-file.ts";
import { createVault, newKey } from "../../src/state/vault.ts";
import { step } from "../report/plan-parts.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { samplePlan } from "./samples.ts";

const vault = createVault(newKey());
const secret = "correct horse battery staple";
const sealed = vault.seal(secret, "secret.word");
const secretField = "config.graphdbPassword";
const isSecret = (kind: string, path: string): boolean => kind === "instances" && path === secretField;

function change(field: Partial<FieldChange>): Change {
  const full: FieldChange = {
    path: "config.graphdbPassword",
    effect: "in-place",
    disruption: "restart",
    secret: true,
    ...field,
  };
  const rest = {
    kind: "instances",
    reason: "changed",
    disruption: "restart",
    blocked: [],
    drift: [],
  } as const;
  return { action: "update", address: "instances.orders", ...rest, fields: [full] };
}

function savedPlan(over: Partial<SavedPlan> = {}): SavedPlan {
  return {
    plan: samplePlan({ changes: [change({ before: null, after: sealed })] }),
    manifest: [{ path: "graphform.yaml", sha256: "ef".repeat(32) }],
    variables: { region: "us-east-1", "2": 2, "1": [1, { b: "\u2028" }] },
    withheld: ["word"],
    ...over,
  };
}

async function planFile(): Promise<string> {
  return join(temporaryFolder("state"), "shop.plan");
}

describe("a plan file", () => {
  it("gives back what was put in, is for its owner only, and is all that is left", async () => {
    const file = await planFile();
    await writePlanFile(file, savedPlan(), isSecret, "1.2.3");
    await writePlanFile(file, savedPlan(), isSecret, "1.2.3");
    expect(await readPlanFile(file)).toEqual(savedPlan());
    const { mode } = await stat(file);
    expect((mode & 0o777).toString(8)).toBe("600");
    expect(await readdir(join(file, ".."))).toEqual(["shop.plan"]);
  });

  it("is the same bytes for the same plan", async () => {
    const [one, two] = [await planFile(), await planFile()];
    await writePlanFile(one, savedPlan(), isSecret, "1.2.3");
    await writePlanFile(two, await readPlanFile(one), isSecret, "1.2.3");
    expect(await readFile(two)).toEqual(await readFile(one));
  });

  it("of a newer format says which graphform made it, and is not shown in part", async () => {
    const file = await planFile();
    const newer = (await text())
      .replace('"version": 1', '"version": 3')
      .replace('"madeBy": "1.2.3"', '"madeBy": "9.1.0"');
    await writeFile(file, newer);
    await expect(readPlanFile(file)).rejects.toMatchObject({
      code: "plan-newer",
      message: `the plan ${file} was made by graphform 9.1.0 in format 3; this graphform reads formats up to 1`,
      hint: "use graphform 9.1.0 for it, or make a new plan",
    });
  });

  const text = async (): Promise<string> => {
    const file = await planFile();
    await writePlanFile(file, savedPlan(), isSecret, "1.2.3");
    return readFile(file, "utf8");
  };
  const cases: readonly [reason: string, broken: (whole: string) => string, code: string][] = [
    ["is empty", () => "", "plan-truncated"],
    ["breaks off", (whole) => whole.slice(0, -20), "plan-truncated"],
    ["is a manifest", () => "apiVersion: graphform/v1\n", "plan-foreign"],
    ["is Terraform's plan", () => "PK\x03\x04", "plan-foreign"],
    ["is other JSON", () => '{"format_version":"1.2"}', "plan-foreign"],
    ["is of a newer format", (whole) => whole.replace('"version": 1', '"version": 2'), "plan-newer"],
    [
      "has a format that nobody wrote",
      (whole) => whole.replace('"version": 1', '"version": "x"'),
      "plan-damaged",
    ],
    ["was changed by hand", (whole) => whole.replace("instances.orders", "instances.others"), "plan-damaged"],
    ["has no digest", (whole) => whole.replace(/"sha256": "[^"]*",/, ""), "plan-damaged"],
    ["has no plan in it", (whole) => whole.replace(/"saved": [\s\S]*/, '"saved": {}\n}'), "plan-damaged"],
  ];
  it.each(cases)("that %s is refused", async (_, broken, code) => {
    const file = await planFile();
    await writeFile(file, broken(await text()));
    await expect(readPlanFile(file)).rejects.toMatchObject({
      code,
      exitCode: 1,
      message: expect.stringContaining("shop.plan"),
      hint: expect.any(String),
    });
  });

  it("that is not there is refused with the way to make it", async () => {
    await expect(readPlanFile(await planFile())).rejects.toMatchObject({
      code: "plan-unreadable",
      hint: expect.stringContaining("graphform plan --out"),
    });
  });

  it("that cannot be written says why", async () => {
    const file = await planFile();
    await writeFile(file, "");
    await expect(writePlanFile(join(file, "x"), savedPlan(), isSecret, "1.2.3")).rejects.toMatchObject({
      code: "plan-unwritable",
    });
  });
});

describe("assertSealed", () => {
  const cases: readonly [reason: string, saved: SavedPlan, place: string][] = [
    [
      "a secret field",
      savedPlan({ plan: samplePlan({ changes: [change({ after: "abc" })] }) }),
      "instances.orders config.graphdbPassword",
    ],
    [
      "a secret field that drifted",
      savedPlan({
        plan: samplePlan({ changes: [{ ...change({}), drift: change({ before: "abc" }).fields }] }),
      }),
      "instances.orders config.graphdbPassword",
    ],
    [
      "a template, beside a sealed part",
      savedPlan({
        plan: samplePlan({ changes: [change({ after: { $template: ["abc", { $ref: "toys.a.id" }] } })] }),
      }),
      "instances.orders config.graphdbPassword",
    ],
    [
      "a spec",
      savedPlan({ plan: samplePlan({ changes: [{ ...change({}), after: { [secretField]: secret } }] }) }),
      "instances.orders config.graphdbPassword",
    ],
    [
      "a step",
      savedPlan({
        plan: samplePlan({
          steps: [step("update", "instances.orders", { patch: { [secretField]: secret } })],
        }),
      }),
      "instances.orders config.graphdbPassword",
    ],
  ];
  it.each(cases)("finds a secret in %s, and names the place alone", async (_, saved, place) => {
    const file = await planFile();
    const writing = writePlanFile(file, saved, isSecret, "1.2.3");
    await expect(writing).rejects.toMatchObject({
      code: "plan-secret",
      message: expect.stringContaining(place),
    });
    await expect(writing).rejects.not.toThrow(secret);
    expect(await readdir(join(file, ".."))).toEqual([]);
  });

  it.each([
    ["sealed secrets", savedPlan()],
    [
      "templates with sealed parts",
      savedPlan({
        plan: samplePlan({ changes: [change({ after: { $template: [sealed, { $ref: "toys.a.id" }] } })] }),
      }),
    ],
    ["secret fields that nobody knows", savedPlan({ plan: samplePlan({ changes: [change({})] }) })],
  ])("lets %s pass", (_, saved) => {
    expect(() => assertSealed(saved.plan, isSecret)).not.toThrow();
  });

  it("finds a fingerprint in a plan that was made before there was a state", () => {
    const unborn = (after: Sealed): SavedPlan =>
      savedPlan({ plan: samplePlan({ serial: 0, changes: [change({ after })] }) });
    expect(() => assertSealed(unborn(sealed).plan, isSecret)).toThrow(
      "a secret is in clear at a plan without a state",
    );
    expect(() => assertSealed(unborn({ $secret: "secret.word" }).plan, isSecret)).not.toThrow();
  });

  it("searches no text: a secret may be a word that stands anywhere", () => {
    const plan = samplePlan({ changes: [{ ...change({}), reason: secret }] });
    expect(() => assertSealed(plan, isSecret)).not.toThrow();
  });
});
