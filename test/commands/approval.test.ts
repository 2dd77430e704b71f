import { describe, expect, it } from "vitest";
import { isApproved } from "../../src/commands/approval.ts";
import type { Terminal } from "../../src/commands/terminal.ts";
import { makePlan } from "../../src/plan/plan.ts";
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
      const terminal: Terminal = {
        ...{ out: () => undefined, err: () => undefined, redactWith: () => undefined, mask: (text) => text },
        ...{ interactive: true, colour: false, width: 80, confirm },
      };
      const plan = makePlan(planInput(scene, { destroying }));
      await isApproved(plan, { destroying }, terminal, new AbortController().signal);
      expect(asked).toEqual([`\n${question} Only "yes" is accepted: `]);
    },
  );
});
