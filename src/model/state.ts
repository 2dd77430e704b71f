/** @module Defines the state document. */
import type { Address } from "./address.ts";
import type { Json, JsonObject } from "./json.ts";
import type { MigrationPhase, Rehearsed } from "./migration.ts";
import type { ManifestIdentity, ServiceIdentity } from "./service-identity.ts";
import type { Spec } from "./spec.ts";

/** Bindings, and what was applied: services do not show everything. Losing it destroys nothing; nothing is created twice if its backup, names or marks are left. */
export interface StateDocument {
  readonly version: 2;
  readonly name: string;
  /** Random identity of this state's history. */
  readonly lineage: string;
  /** Grows by one with every write. */
  readonly serial: number;
  /** Key of the secrets' fingerprints, 32 random bytes in hex. */
  readonly key: string;
  /** ISO 8601. */
  readonly savedAt: string;
  /** The service whose ids these are; absent until a run that knows it has written. */
  readonly service?: ServiceIdentity;
  /** The manifest that has applied it last; absent if nothing of it is known. */
  readonly manifest?: ManifestIdentity;
  readonly resources: { readonly [address: Address]: Bound };
  /** Creates that were announced and not yet acknowledged. */
  readonly intents: { readonly [address: Address]: Intent };
  /** The rounds that open intents belong to, by their ids. */
  readonly rounds: { readonly [round: string]: CreateRound };
  /** Fingerprints of plans that were applied; the newest 1,000 are kept. */
  readonly appliedPlans: readonly string[];
  readonly outputs: { readonly [name: string]: RecordedOutput };
  /** Ms that operations took, smoothed, by kind and operation: `instances.create`. Absent until one was measured. */
  readonly durations?: Durations;
  /** Databases whose data is being moved, or was moved and whose old object is kept. Absent if there is none. */
  readonly migrations?: { readonly [address: Address]: Migration };
}

/** Ms by kind and operation: `instances.create`. */
export interface Durations {
  readonly [operation: string]: number;
}

export interface RecordedOutput<Value = Json> {
  readonly value: Value;
  readonly sensitive: boolean;
}

export interface Bound<Value = Json> {
  readonly kind: string;
  readonly id: string;
  readonly place: JsonObject;
  /** Last applied values; secrets sealed. */
  readonly recorded: Spec<Value>;
  /** Protection from the last apply; it holds also after its block is removed from the manifest. */
  readonly protect: boolean;
  readonly onDelete: "delete" | "retain" | "backup";
  readonly refs: readonly Address[];
  /** ISO 8601: when it was created or bound, by the clock of the run. */
  readonly createdAt: string;
  /** The creation time that the service showed at the first look after it was bound, as it writes it. Absent until then. */
  readonly shownCreatedAt?: string;
  /** Another creation time that was shown under the id since: the object there counts as another one from then on. */
  readonly otherCreatedAt?: string;
  /** ISO 8601: when an apply last saw the object as it should be, or bound it. */
  readonly appliedAt?: string;
  /** Dotted path -> ISO 8601: fields that were last seen right at another time than the object as a whole. */
  readonly seenRight?: { readonly [path: string]: string };
  /** Paths that were applied and that the running object kept showing otherwise: they are not sent again as they are. */
  readonly ineffective?: readonly string[];
  /** An operation that was announced or accepted, and has not been seen to finish: the next run goes on waiting. */
  readonly converging?: Converging;
}

export interface Converging {
  readonly operation: string;
  /** ISO 8601: when it was announced or accepted. */
  readonly since: string;
  /** Values to record once it has finished. */
  readonly record: Spec;
  /** create: digest of the spec that was asked for. A saved plan that asks for the same goes on with the object. */
  readonly digest?: string;
  /** create: its intent without values, and its round, if nothing but a time told that the object is its own. */
  readonly byTime?: { readonly intent: Intent; readonly listed: CreateRound };
}

/** Creates of one class that were in flight together, and the list of their place before the first of them was sent. */
export interface CreateRound {
  readonly kind: string;
  readonly place: JsonObject;
  readonly classKey: string;
  /** Ids that existed at the place before. */
  readonly before: readonly string[];
}

/** A create that was announced: enough to find its object if the answer is lost. */
export interface Intent extends Pick<Bound, "protect" | "onDelete" | "refs"> {
  readonly round: string;
  /** Digest of the spec that was to be created. */
  readonly digest: string;
  /** The create carried the mark of its owner: an object that shows marks without it belongs to others. */
  readonly marked?: true;
  /** The service said that it did nothing: an object belongs to this create only if no other one can have made it. */
  readonly refused?: true;
  /** The id that the service answered with, if its object was not shown yet: an object with this id is that of this create. */
  readonly acknowledged?: string;
  /** Ids that were bound by time alone, and then refused the declared login: only a person binds them again. */
  readonly lockedOut?: readonly string[];
  /** ISO 8601: the time of that answer, by our clock. */
  readonly refusedAt?: string;
  /** ISO 8601, by the service's clock: the time of the refusal, or the first one shown after the answer was lost. A newer object is not its own. */
  readonly sentBefore?: string;
  /** ISO 8601. */
  readonly startedAt: string;
  /** ISO 8601, by the service's clock: the newest time shown before the create was announced. An older object is not its own. */
  readonly sentAfter?: string;
  /** Values to record once the object is known. */
  readonly recorded: Spec;
}

/** One migration as the state remembers it, at the address whose data moves. */
export interface Migration {
  readonly phase: MigrationPhase;
  /** ISO 8601: when the phase began. */
  readonly since: string;
  readonly rehearsed?: Rehearsed;
  /** From quiesce on, until it is put back: QUERY_MEM_CAPACITY of the live database as it was. */
  readonly cap?: number;
  /** From fence on. ISO 8601: the pause of writes ends by itself then. */
  readonly pausedUntil?: string;
  /** After the switch. ISO 8601: the old object is kept until then. */
  readonly heldUntil?: string;
  /** After the switch, until the hook has ended with 0: it has not run, or failed; or a run began it and has not seen its end; or the way back left it. */
  readonly hook?: "due" | "begun" | "put-off";
  /** After the switch: the bindings of resources that live inside of the old object. */
  readonly former?: { readonly [address: Address]: Bound };
  /** The number of write commands that the new database had executed until a run had emptied it or copied everything, and its process: no other client has written if both are still the same. */
  readonly mark?: { readonly runId: string; readonly writes: number; readonly libraries?: string };
}

/** The new database of a migration as a run has left it, with the id of the old one. One that is leaving is kept if it cannot be asked. */
export type CopyOf = Pick<Migration, "mark"> & { readonly id: string; readonly isLeaving: boolean };
