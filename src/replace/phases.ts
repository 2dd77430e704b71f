/** @module Lists the phases of a migration: the work of each, its proof, and the consequence of a kill in it. */
import type { Address } from "../model/address.ts";
import { isStoppingOrStarting, type MigrationPhase } from "../model/migration.ts";
import type { Bound, Migration, StateDocument } from "../model/state.ts";

/** One phase, in words for people. */
export interface PhaseRow {
  readonly does: string;
  readonly proof: string;
  readonly afterKill: string;
}

const writable = "the pause ends by itself, and the next run or plan returns to await-cutover";

/** Each phase once; `migrationPhases` has their order. `switch` is recorded only on the way back. */
export const phases: { readonly [phase in MigrationPhase]: PhaseRow } = {
  create: {
    does: "creates the new database and its users",
    proof: "the service shows them ready",
    afterKill: "the next run finds what was created, as for every create",
  },
  rehearse: {
    does: "copies and compares without a pause, and empties the new database again",
    proof: "measured times and sizes",
    afterKill: "the next run begins the phase again",
  },
  "await-cutover": {
    does: "waits for --cutover or a declared window",
    proof: "the rehearsed read-only time",
    afterKill: "it goes on waiting",
  },
  quiesce: {
    does: "waits for constraints and snapshots, lets no write begin, pauses writes on every node",
    proof: "no query runs or waits",
    afterKill: "any later run, a plan too, puts QUERY_MEM_CAPACITY back",
  },
  freeze: {
    does: "holds the pause and renews it",
    proof: "the same process, saves, changes and write calls on every node; a write waits",
    afterKill: writable,
  },
  copy: {
    does: "copies every key of every database",
    proof: "each key was acknowledged",
    afterKill: writable,
  },
  verify: {
    does: "compares counts, schema, every node, edge and key",
    proof: "no difference",
    afterKill: writable,
  },
  durable: {
    does: "waits until the new database has everything on disk and on its replicas",
    proof: "WAITAOF and WAIT have answered",
    afterKill: writable,
  },
  fence: {
    does: "lets no new write begin, ends all connections of the old database and stops it",
    proof: "the pause is proved all the time until the service shows it stopped",
    afterKill:
      "the next run, or `replace undo`, starts the old one again if it is stopped, unless the new one may be in use, lets it take writes, and waits for the cutover again",
  },
  switch: {
    does: "gives the address, and everything inside, to the new database in one version of the state",
    proof: "the version is stored",
    afterKill: "it is done, or the next run starts the old one again, as in the fence",
  },
  hook: {
    does: "runs the command of lifecycle.migration.hook",
    proof: "it ended with 0",
    afterKill: "the next run runs it again",
  },
  hold: {
    does: "keeps the database that lost the address, stopped",
    proof: "the time in the state",
    afterKill: "it goes on",
  },
};

const back: { readonly [phase in MigrationPhase]?: Partial<PhaseRow> } = {
  fence: {
    does: "goes back: ends all connections of the database that has the address, and stops it",
    afterKill:
      "`replace undo` starts it again if it is stopped, and closes it anew; if it runs, the next plan or apply lets it take writes",
  },
  switch: {
    does: "goes back: the address is that of the other database, which is started",
    proof: "the service shows it ready",
    afterKill: "`replace undo` or an apply starts it",
  },
};

const frozen: readonly MigrationPhase[] = ["quiesce", "freeze", "copy", "verify", "durable", "fence"];

/** True if a run was in the middle of a cutover, and the old database still is the only one that counts. */
export function isInterrupted(migration: Pick<Migration, "phase" | "cap"> | undefined): boolean {
  return migration !== undefined && (frozen.includes(migration.phase) || migration.cap !== undefined);
}

/** Migrations whose run ended while the database took no writes. A start that the service has taken is waited for by an apply. */
export function toRepair({
  migrations = {},
  resources,
}: Pick<StateDocument, "migrations" | "resources">): readonly (readonly [Address, Migration, Bound])[] {
  return Object.entries(migrations).flatMap(([address, migration]) => {
    const bound = resources[address];
    const isLeft = isStoppingOrStarting(migration)
      ? (bound?.converging?.operation ?? "stop") === "stop"
      : isInterrupted(migration);
    return bound !== undefined && isLeft ? [[address, migration, bound] as const] : [];
  });
}

/** True once the new database has had the address. Closing a database from then on is part of a way back. */
export function isSwitched({ heldUntil }: Pick<Migration, "heldUntil">): boolean {
  return heldUntil !== undefined;
}

/** The phase to which an interrupted one goes back: before the switch the cutover waits again, after it the hook is due or the old database is held. */
export function phaseBefore(migration: Pick<Migration, "heldUntil" | "hook">): MigrationPhase {
  if (!isSwitched(migration)) return "await-cutover";
  return migration.hook === undefined || migration.hook === "put-off" ? "hold" : "hook";
}

/** The row of the phase that a migration is in. A way back closes the database that has the address, and it ends otherwise if it is killed. */
export function rowOf(migration: Pick<Migration, "phase" | "heldUntil">): PhaseRow {
  const row = phases[migration.phase];
  return isSwitched(migration) ? { ...row, ...back[migration.phase] } : row;
}
