/** @module Defines the events that a state is made of, and the journal that records them. */
import type { Address } from "./address.ts";
import type { Json } from "./json.ts";
import type { Ref } from "./observed.ts";
import type { ManifestIdentity, ServiceIdentity } from "./service-identity.ts";
import type {
  Bound,
  Converging,
  CreateRound,
  Intent,
  Migration,
  RecordedOutput,
  StateDocument,
} from "./state.ts";

export interface CreatedObject {
  readonly address: Address;
  readonly id: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly converging: Converging;
  /** Paths whose values may be those of another create. */
  readonly unconfirmed?: readonly string[];
}

/** Fields of a bound object, and the time (ISO 8601). */
interface FieldsAt {
  readonly address: Address;
  readonly paths: readonly string[];
  readonly at: string;
}

export type Binding = readonly [address: Address, bound: Bound];

/** One thing that happened, as the journal records it. JSON: it is written as it is. */
export type StateEvent =
  /** The ids of the state are those of this service, and what becomes of them is said by this manifest. */
  | {
      readonly type: "service-recorded";
      readonly service: ServiceIdentity;
      readonly manifest?: ManifestIdentity;
    }
  /** A plan is about to be applied; it cannot be applied again. */
  | {
      readonly type: "plan-applied";
      readonly fingerprint: string;
      /** Creation times that the service shows of bound objects, if none is known. */
      readonly shownCreatedAt?: { readonly [address: Address]: string };
    }
  /** A create is about to be sent. `listed` is its round, if the state does not know it. `released`: one that was sent is open again, and its address lets go of an object that is not its own. */
  | {
      readonly type: "create-announced";
      readonly address: Address;
      readonly intent: Intent;
      readonly listed?: CreateRound;
      readonly released?: true;
    }
  /** The service refused an announced create. That does not prove that it made nothing. */
  | {
      readonly type: "create-refused";
      readonly address: Address;
      /** The time of the answer, ISO 8601: by our clock, and by that of the service if it shows one. */
      readonly at?: string;
      readonly sentBefore?: string;
    }
  /** The answers of announced creates were lost. `sentBefore` is the first time that the service has shown since, ISO 8601. */
  | { readonly type: "creates-lost"; readonly addresses: readonly Address[]; readonly sentBefore: string }
  /** The service answered an announced create with its object. */
  | ({ readonly type: "create-acknowledged" } & CreatedObject)
  /** Lost creates were resolved, all of a round at once: the object of each is known, or of none. */
  | {
      readonly type: "creates-resolved";
      readonly found: readonly CreatedObject[];
      readonly absent: readonly Address[];
    }
  /** The announced create surely made nothing. */
  | { readonly type: "create-abandoned"; readonly address: Address }
  /** An announced update surely did nothing: the binding is as it was before it. */
  | { readonly type: "bound"; readonly address: Address; readonly bound: Bound }
  /** Objects that exist are bound, any number at once: thousands of versions of a large document cost more than the work. */
  | { readonly type: "bound-together"; readonly bindings: readonly Binding[] }
  /** An update of these fields is about to be sent: their values are unknown until it was seen to finish. */
  | ({ readonly type: "update-announced" } & FieldsAt)
  | { readonly type: "operation-accepted"; readonly address: Address; readonly converging: Converging }
  /** The accepted operation was seen to finish: its values are recorded, with those that became known meanwhile. */
  | {
      readonly type: "operation-settled";
      readonly address: Address;
      readonly record?: { readonly [path: string]: Json };
      /** ISO 8601: when it was seen. */
      readonly at?: string;
      /** The creation time that the service showed then. */
      readonly shownCreatedAt?: string;
      /** Applied paths that the running object still shows otherwise. */
      readonly ineffective?: readonly string[];
      /** Ms from its acceptance to its end, if one run saw both. */
      readonly took?: number;
    }
  /** Fields were set back in the running object, or found set back there, and read from it as they should be. */
  | ({ readonly type: "healed" } & FieldsAt)
  /** The id of a bound object showed another time of its creation: it belongs to another object now. */
  | { readonly type: "another-seen"; readonly address: Address; readonly createdAt: string }
  /** The accepted operation failed: nothing is recorded. */
  | { readonly type: "operation-failed"; readonly address: Address }
  /** `took` is that of the deletion, if there was one and this run saw all of it. */
  | { readonly type: "released"; readonly address: Address; readonly took?: number }
  | { readonly type: "released-together"; readonly addresses: readonly Address[] }
  /** An address was renamed. `renamed` has the references to it. */
  | {
      readonly type: "moved";
      readonly from: Address;
      readonly to: Address;
      readonly renamed?: { readonly [address: Address]: { readonly [path: string]: Json } };
    }
  /** A migration entered a phase, or is over. */
  | { readonly type: "migration"; readonly address: Address; readonly migration?: Migration }
  /** A migrated address changed its object, with everything that lives inside: one version, so that there is one winner. */
  | {
      readonly type: "switched";
      readonly address: Address;
      readonly migration: Migration;
      readonly bindings: readonly Binding[];
      readonly released: readonly Address[];
      /** All recorded outputs, if some of them name what changed. */
      readonly outputs?: StateDocument["outputs"];
    }
  | {
      readonly type: "outputs-recorded";
      readonly outputs: { readonly [name: string]: RecordedOutput };
    };

export interface Journal {
  /** The newest version, with everything that was recorded. It changes with every event. */
  readonly state: StateDocument;
  /** A copy of the newest version that later events do not change. */
  snapshot(): StateDocument;
  /** The addresses that are bound to an object, or were at some time after version `since` of the state. */
  boundTo(kind: string, ref: Ref, since?: number): readonly Address[];
  /** Adds an event; resolves once it is durable. */
  record(event: StateEvent): Promise<void>;
  /** Binds an existing object. Bindings that arrive during a write are written together in the next version. */
  bind(address: Address, bound: Bound): Promise<void>;
}
