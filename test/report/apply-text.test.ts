import { describe, expect, it } from "vitest";
import { defined } from "../../src/model/json.ts";
import type { ApplyEvent, StepOutcome } from "../../src/model/outcome.ts";
import { progressText } from "../../src/report/apply-text.ts";
import { makePalette } from "../../src/report/typeset.ts";
import { ended, outcome, roughOutcome } from "./apply-parts.ts";
import { outcomeText } from "./rendered.ts";

const palette = makePalette(false);
const step = { key: "instances.orders", address: "instances.orders", kind: "instances" } as const;

describe("progressText", () => {
  it.each<[string, ApplyEvent, string]>([
    ["a start", { type: "step-start", ...step, operation: "create" }, "instances.orders: creating..."],
    [
      "a verb",
      { type: "step-start", ...step, operation: "operate", verb: "restart" },
      "instances.orders: restarting...",
    ],
    [
      "an unknown verb",
      { type: "step-start", ...step, operation: "operate", verb: "resize" },
      "instances.orders: resize in progress...",
    ],
    [
      "progress",
      { type: "step-progress", ...step, operation: "create", elapsed: 10_000, detail: "DEPLOYING" },
      "instances.orders: still creating... [10s elapsed] DEPLOYING",
    ],
    [
      "long progress",
      { type: "step-progress", ...step, operation: "delete", elapsed: 3_905_000, detail: "" },
      "instances.orders: still deleting... [1h05m elapsed]",
    ],
    [
      "an end",
      { type: "step-end", outcome: ended("instances.orders", { id: "instance-abc" }) },
      "instances.orders: created in 12 s [id=instance-abc]",
    ],
    [
      "a failure",
      {
        type: "step-end",
        outcome: ended("instances.orders", { result: "failed", message: "the service said no" }),
      },
      "instances.orders: failed after 12 s: the service said no",
    ],
    [
      "a warning",
      { type: "warning", address: "instances.orders", message: "no answer" },
      "instances.orders: warning: no answer",
    ],
    [
      "foreign words",
      {
        type: "step-progress",
        ...step,
        operation: "update",
        elapsed: 0,
        detail: "\u001b[2J\nApply complete!",
      },
      "instances.orders: still updating... [0s elapsed] \\u001b[2J\\nApply complete!",
    ],
  ])("%s", (_, event, text) => {
    expect(progressText(event, palette)).toBe(text);
  });
});

describe("outcomeText", () => {
  const page = { palette, width: 80 };

  it("tells each ending, its reason and the way on", () => {
    expect(outcomeText(roughOutcome, page)).toMatchInlineSnapshot(`
      "Failed (1)
        ✗ instances.jobs: instance-2 failed: FAILED: out of capacity
          way out: the next plan offers to try it again in place; --replace
                   instances.jobs asks for a new one

      Changed since the plan was made (1)
        ✗ instances.stale: instance-9 is no longer as it was when the plan was made:
          config.maxMemory
          way out: make a new plan

      Interrupted (1)
        ! instances.late: not started
          way out: run apply again: it continues where this one stopped

      Waiting for a person (1)
        … cloudAccounts.prod: acc-1 waits for a person: PENDING
          way out: do what the service asks for, then run apply again

      Still converging (1)
        … instances.vault: instance-3 is still DEPLOYING after the time that was
          allowed
          way out: run apply again: it continues to wait and starts nothing twice

      Blocked (1)
        ✗ instances.orders: protected
          way out: --allow-destroy instances.orders

      Not started (1)
        ○ users.reader: not started: instances.orders is not done

      Not as declared after apply
        ✗ instances.cache: config.maxMemory is "4GB" after apply, and "6GB" was
          declared
          a second plan after apply should have been empty: the service did not take
          these values, or changed them

      Warnings
        ! instance-1: the endpoint does not answer from here

      Outputs
        endpoint = "orders.example.net:6379"
        password = (sensitive)
        port     = 6379

      Apply incomplete. Resources: 1 added, 0 changed, 0 destroyed.
      "
    `);
  });

  it("ends with the line that scripts read", () => {
    const text = outcomeText(outcome({ added: 2, changed: 1 }), page);
    expect(text).toBe("Apply complete! Resources: 2 added, 1 changed, 0 destroyed.\n");
  });

  it.each([
    [1, "Resumed: 1 create of an earlier run was found."],
    [12, "Resumed: 12 creates of an earlier run were found."],
  ])("counts %i creates of an earlier run before it", (resumed, line) => {
    const text = outcomeText(outcome({ resumed }), page);
    expect(text).toBe(`${line}\nApply complete! Resources: 0 added, 0 changed, 0 destroyed.\n`);
  });

  it("keeps the counts where apply is not complete", () => {
    const text = outcomeText(
      outcome({ steps: [ended("a.b", { result: "converging" })], added: 1, exitCode: 7 }),
      page,
    );
    expect(text.split("\n").at(-2)).toBe("Apply incomplete. Resources: 1 added, 0 changed, 0 destroyed.");
    expect(text).toContain("way out: run apply again: it continues to wait and starts nothing twice");
  });

  it.each<[StepOutcome["result"], string | undefined, string]>([
    ["waiting-for-person", undefined, "do what the service asks for, then run destroy again"],
    ["interrupted", undefined, "run destroy again: it continues where this one stopped"],
    ["converging", "run apply again to go on waiting", "run destroy again to go on waiting"],
  ])("says to run destroy again where that was run, and something is %s", (result, hint, way) => {
    const step = ended("a.b", { operation: "delete", result, ...defined({ hint }) });
    const text = outcomeText(outcome({ steps: [step], exitCode: 8 }), page, "destroy");
    expect(text).toContain(`way out: ${way}`);
    expect(text).not.toContain("run apply");
  });
});
