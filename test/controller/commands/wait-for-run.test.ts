import { expect, it } from "vitest";
import type { ControllerClient } from "../../../src/commands/fleet/controller-client.ts";
import { waitForRun } from "../../../src/commands/fleet/wait-for-run.ts";

interface Row {
  readonly id: string;
  readonly kind: "reconcile" | "drift";
  readonly createdAt: string;
  readonly endedAt: string | null;
  readonly exitCode: number;
}

const at = (second: number): string => new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString();

/** A client of a controller that has these runs of one manifest, newest first. */
function clientOf(rows: readonly Row[]): ControllerClient {
  return {
    async ask(_method, path) {
      const run = rows.find(({ id }) => path === `/api/v1/runs/${id}`);
      const all = rows.map((row) => ({ ...row, status: "applied", tenant: "shop", manifest: "orders" }));
      return run === undefined ? { runs: all } : { run: { ...all[rows.indexOf(run)] } };
    },
    pages: async () => ({}),
    async *events() {
      yield { type: "end" };
    },
  };
}

it("follows the run that was begun when the one before it ended, also if it has ended, and no check", async () => {
  const check: Row = { id: "check", kind: "drift", createdAt: at(0), endedAt: at(10), exitCode: 0 };
  const upload: Row = { id: "upload", kind: "reconcile", createdAt: at(10), endedAt: at(20), exitCode: 4 };
  const later: Row = { id: "later", kind: "drift", createdAt: at(21), endedAt: null, exitCode: 0 };
  const waited = await waitForRun(clientOf([later, upload, check]), "check", () => undefined);
  expect(waited).toEqual({ run: "upload", code: 4 });
});

it("does not follow a run that had ended before, nor one of before", async () => {
  const older: Row = { id: "older", kind: "reconcile", createdAt: at(0), endedAt: at(5), exitCode: 1 };
  const waiting: Row = { id: "waiting", kind: "drift", createdAt: at(10), endedAt: at(900), exitCode: 0 };
  const between: Row = { id: "between", kind: "reconcile", createdAt: at(60), endedAt: at(70), exitCode: 1 };
  const waited = await waitForRun(clientOf([between, waiting, older]), "waiting", () => undefined);
  expect(waited).toEqual({ run: "waiting", code: 0 });
});
