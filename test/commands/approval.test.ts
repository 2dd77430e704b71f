import { readFile, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { isApproved } from "../../src/commands/apply.ts";
import type { Terminal } from "../../src/commands/terminal/terminal.ts";
import { makePlan } from "../../src/plan/make-plan.ts";
import { type Case, planInput } from "../support/plan-input.ts";

const free: Case = { has: {}, recorded: {} };
const held: Case = { has: {}, recorded: {}, remembered: { protect: true } };

describe("the question before a plan is carried out", () => {
  it.each([
    ["Apply these changes?", { a: { wants: {} } }, false],
    ["Destroy all of this?", { a: free }, true],
    ["Destroy what is not blocked?", { a: free, b: held }, true],
  ] satisfies readonly [string, { readonly [name: string]: Case }, boolean][])(
    "is %s",
    async (question, scene, destroying) => {
      const asked: string[] = [];
      const confirm = async (text: string): Promise<boolean> => {
        asked.push(text);
        return true;
      };
      const plan = makePlan(planInput(scene, { destroying }));
      await isApproved(plan, { destroying }, terminalWith(confirm), new AbortController().signal);
      expect(asked).toEqual([`\n${question} Only "yes" is accepted: `]);
    },
  );

  it("names a file with all databases that are lost if the text names a part of them", async () => {
    const asked: string[] = [];
    const confirm = async (text: string): Promise<boolean> => {
      asked.push(text);
      return false;
    };
    const scene = Object.fromEntries(Array.from({ length: 501 }, (_, n) => [`db${n}`, free]));
    const plan = makePlan(planInput(scene, { destroying: true }));
    const signal = new AbortController().signal;
    expect(await isApproved(plan, { destroying: true }, terminalWith(confirm), signal)).toBe(false);
    const file = /^Everything that is lost, replaced or restarted is named in (\S+)\.$/m.exec(
      asked.join(""),
    )?.[1];
    const named = (await readFile(file ?? "", "utf8")).trimEnd().split("\n");
    expect(named).toEqual([
      "Data loss (501)",
      ...Object.keys(scene)
        .map((name) => `toys.${name}`)
        .sort(),
    ]);
    await rm(dirname(file ?? ""), { recursive: true });
  });
});

function terminalWith(confirm: Terminal["confirm"]): Terminal {
  return {
    ...{ out: () => undefined, err: () => undefined },
    ...{ interactive: true, colour: false, width: 80, confirm },
  };
}
