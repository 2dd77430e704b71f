import { describe, expect, it } from "vitest";
import type { ApplyContext } from "../../src/apply/context.ts";
import { recordOf, requestSpec } from "../../src/apply/operations/change.ts";
import type { Json, JsonObject } from "../../src/model/json.ts";
import { createVault } from "../../src/state/vault.ts";
import { applyContext } from "../support/apply-context.ts";
import { toyService } from "../support/toy-service.ts";
import { virtualClock } from "../support/virtual-clock.ts";

const vault = createVault("77".repeat(32));
const secret = vault.seal("tell nobody", "secret.told");
const stranger = createVault("88".repeat(32)).seal("never seen", "secret.seen");
const ref = (text: string): { readonly $ref: string } => ({ $ref: text });

function context(): ApplyContext {
  const clock = virtualClock();
  const outputs = new Map<string, JsonObject>([["toys.house", { id: "toy-1", port: 6379 }]]);
  return applyContext(clock, toyService(clock), { open: vault.open, outputs });
}

interface Row {
  readonly reason: string;
  readonly value: Json;
  /** For the last request. */
  readonly sent: Json;
  /** For the state. */
  readonly recorded: Json;
}

const rows: readonly Row[] = [
  { reason: "plain values", value: "red", sent: "red", recorded: "red" },
  { reason: "a secret", value: secret, sent: "tell nobody", recorded: secret },
  { reason: "a secret in a list", value: ["a", secret], sent: ["a", "tell nobody"], recorded: ["a", secret] },
  {
    reason: "one whole output keeps its type",
    value: { $template: [ref("toys.house.port")] },
    sent: 6379,
    recorded: 6379,
  },
  {
    reason: "text around an output",
    value: { $template: ["at ", ref("toys.house.port")] },
    sent: "at 6379",
    recorded: "at 6379",
  },
  {
    reason: "text around both",
    value: { $template: [secret, "@", ref("toys.house.id")] },
    sent: "tell nobody@toy-1",
    recorded: { $template: [secret, "@", "toy-1"] },
  },
];

describe("a spec", () => {
  it.each(rows)(
    "is opened for the last request, and sealed for the state: $reason",
    ({ value, sent, recorded }) => {
      expect(requestSpec("toys", { colour: value }, context())).toEqual({ colour: sent });
      expect(recordOf({ colour: value }, context())).toEqual({ colour: recorded });
    },
  );

  it("is sent with ids, and remembered with names", () => {
    expect(requestSpec("toys", { home: "house", colour: "red" }, context())).toEqual({
      home: "toy-1",
      colour: "red",
    });
    expect(recordOf({ home: "house", colour: "red" }, context())).toEqual({ home: "house", colour: "red" });
  });

  it.each<[string, JsonObject, string, number]>([
    [
      "an output that is not there yet",
      { colour: { $template: [ref("toys.house.endpoint")] } },
      "output-missing",
      1,
    ],
    ["a resource that is not there yet", { home: "elsewhere" }, "output-missing", 1],
    ["a secret that this run does not have", { token: stranger }, "secret-missing", 6],
  ])("is not sent without %s", (_, spec, code, exitCode) => {
    expect(() => requestSpec("toys", spec, context())).toThrow(expect.objectContaining({ code, exitCode }));
  });
});
