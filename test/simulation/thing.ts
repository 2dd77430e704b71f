import type { Address } from "../../src/model/address.ts";
import type { Json } from "../../src/model/json.ts";

/** How an object looks: what describe shows of it. */
export interface Look {
  readonly status: string;
  readonly modifiedAt: number;
  /** Top level of the answer, and the parameters. */
  readonly top: { readonly [name: string]: Json };
  readonly params: { readonly [name: string]: Json };
}

/** Work that an object is in the middle of. */
export interface Work {
  readonly operation: string;
  /** The status meanwhile. */
  readonly through: string;
  until: number;
  readonly end: () => void;
}

/** An object of the service, with what only the simulator knows of it. */
export interface Thing {
  readonly id: string;
  /** Section of the manifest. */
  readonly kind: string;
  /** Where it is listed. */
  readonly place: string;
  readonly bornAt: number;
  /** Until these moments lists, and requests that name its id, may not know it. */
  readonly listedFrom: number;
  readonly describedFrom: number;
  /** The address that it was made for; absent where somebody else made it. */
  madeFor?: Address;
  readonly tag?: number;
  /** True where it is ours to change: made or bound by us, and not let go of. */
  ours: boolean;
  /** What the manifests since its creation have said of its protection. */
  protects: ReadonlySet<boolean>;
  look: Look;
  /** The look that still shows until then. */
  old?: { readonly until: number; readonly look: Look };
  work?: Work;
  /** Who asked for the work: a process, or somebody else. */
  worker?: string;
  /** When somebody else changed a value of it. */
  touchedAt?: number;
  /** What was asked of it was taken for done before it was, by what somebody else did (docs/simulation.md, open). */
  isMistaken?: boolean;
  /** What a person has to do before it goes on. */
  awaits?: "bootstrap" | "offboard" | "last delete";
  goneAt?: number;
}

/** True until the service has really let it go. */
export function isThere(thing: Thing): boolean {
  return thing.goneAt === undefined;
}

/** True while a deletion that was accepted has not ended. */
export function isLeaving(thing: Thing): boolean {
  return thing.work?.operation === "delete" || thing.look.status === "DELETING";
}
