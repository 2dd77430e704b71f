/** @module Defines a kind of resource: its reader, its driver and its rules. */
import type { Desired } from "./desired.ts";
import type { Problem, SourceRange } from "./errors.ts";
import type { KindSchema } from "./field-schema.ts";
import type { JsonObject } from "./json.ts";
import type { Hide } from "./known-secrets.ts";
import type { Live, Owner, Ref, Seen } from "./observed.ts";
import type { ProbeAnswer, ProbeRequest } from "./probe.ts";
import type { Open } from "./sealed.ts";
import type { Profile, Reads, Service } from "./service.ts";
import type { Spec } from "./spec.ts";

/** Reads of one kind. Each call is one look; nothing waits, nothing retries. */
export interface Reader {
  /** Ids that exist at this place now. */
  list(place: JsonObject, signal: AbortSignal): Promise<readonly string[]>;
  /** False if the service has no list of them: `list` is empty then and proves nothing. */
  readonly isListed?: boolean;
  /** Reads one object; undefined if it does not exist (404). */
  get(ref: Ref, signal: AbortSignal): Promise<Live | undefined>;
  /** Ids that lists of this place have shown in this run, without those that describe denied at its last look. */
  shownAt?(place: JsonObject): Iterable<string>;
  /** True if the last list of this place said that there may be more: an id that it lacks may still exist. */
  isPartial?(place: JsonObject): boolean;
  /** Everything of the kind at every place, if the service lists it in one answer. */
  listAll?(signal: AbortSignal): Promise<Everything | undefined>;
  /** Asks the running object itself, once. Rejects with the reason of the signal, and with nothing else. */
  probe?(request: ProbeRequest, signal: AbortSignal): Promise<ProbeAnswer>;
  /** The backups that the service lists of one object; a kind without them holds nothing that could be backed up. */
  backups?(ref: Ref, signal: AbortSignal): Promise<readonly Backup[]>;
  /** True if the service shows when a backup was made. */
  readonly showsBackupTimes?: boolean;
  /** The databases behind an object, one for each node, with the login of the request; a sentence if it shows none that can be reached. */
  databases?(
    ref: Ref,
    request: ProbeRequest,
    signal: AbortSignal,
  ): Promise<readonly DatabaseLogin[] | string>;
}

/** All objects of a kind. `leftOut` could not be read; `unplaced` appears only in the lists of places. */
export interface Everything {
  /** False if the lists of places must be asked too: this one was refused, is empty, or says that it is not all. */
  readonly isWhole: boolean;
  /** Says why objects may be missing; absent if nothing speaks for it. */
  readonly doubt?: string;
  readonly found: readonly {
    readonly place: JsonObject;
    readonly live: Live;
    /** The subscription that it belongs to, if that is shown. */
    readonly subscription?: string;
  }[];
  readonly leftOut: readonly LeftOut[];
  /** The reason, if no list of a place has it either. */
  readonly unplaced: readonly LeftOut[];
}

/** Something that was not looked at, and why. */
export interface LeftOut {
  /** Its id, or the place or the list that was asked. */
  readonly what: string;
  readonly reason: string;
}

export interface Backup {
  readonly id: string;
  readonly is: "completed" | "failed" | "pending";
  /** The service's own status, and the reason of a failure. */
  readonly detail: string;
  /** Made by the service on its schedule. */
  readonly isAutomatic: boolean;
  /** ISO 8601, by the service's clock. */
  readonly createdAt?: string;
}

/** Reads and writes of one kind. A write returns when the service has accepted it. */
export interface Driver extends Reader {
  /** Creates from a bound spec (references are ids, secrets open), marked with its owner if the service keeps marks. Returns the new id. */
  create(spec: Spec, signal: AbortSignal, owner?: Owner): Promise<string>;
  /** Sends only what changed: `patch` is a spec with the changed fields alone. */
  update(ref: Ref, patch: Spec, signal: AbortSignal): Promise<void>;
  delete(ref: Ref, signal: AbortSignal): Promise<void>;
  /** One lifecycle operation: start, stop, restart, ...; `choices` are its parameters, `applied` the values that the state has of it. */
  operate(ref: Ref, verb: string, signal: AbortSignal, choices?: Choices, applied?: Spec): Promise<void>;
  /** Asks for a backup; `backups` lists it. Gives the id of the answer, which may be that of the work and not of the backup. */
  backup?(ref: Ref, signal: AbortSignal): Promise<string | undefined>;
  /** Sets these paths in the running object itself, without the service; sent again it does the same. */
  heal?(request: ProbeRequest, paths: readonly string[], signal: AbortSignal): Promise<void>;
  /** One try of the thing itself, with the bound spec's credentials. Without it `probe` is tried; without both, ready is enough. */
  usable?(live: Live, spec: Spec, signal: AbortSignal): Promise<Usable>;
}

/** A database to sign in to. */
export interface DatabaseLogin {
  readonly host: string;
  readonly port: number;
  readonly username?: string;
  readonly password?: string;
  /** True: TLS with the system's authorities; caFile: with the authorities of a PEM file. */
  readonly tls?: boolean | { readonly caFile?: string };
  /** Hides the secrets of the run in what the database says. */
  readonly hide?: Hide;
  /** Longest time for everything together, in ms. Default 2 s. */
  readonly timeout?: number;
}

/** Parameters of a lifecycle operation, such as the replica. The kind chooses absent ones. */
export interface Choices {
  readonly [name: string]: string;
}

/** Result of trying a ready resource; `unknown` if it cannot be tried from here. */
export interface Usable {
  readonly is: "usable" | "not-yet" | "unknown";
  readonly detail: string;
}

/** An object that another one makes and keeps by itself. */
export interface ImplicitChild {
  readonly kind: string;
  readonly id: string;
}

/** Inputs of the rules of a kind. `at` returns the source range of a path of the spec. */
export interface RuleContext {
  readonly profile: Profile;
  readonly all: readonly Desired[];
  at(desired: Desired, path: string): SourceRange;
  /** The text behind a sealed secret; undefined if it was not read. */
  readonly open: Open;
  /** A hint for a wrong word: the nearest right one, then the list; `what` labels the list: "allowed". */
  suggest(word: string, candidates: readonly string[], what?: string): string;
}

/** A rule's finding before its excerpt is cut out of the source. */
export type Finding = Omit<Problem, "excerpt">;

/** A kind of resource as its file declares it. Absent members have the defaults of `defineKind`. */
export interface KindDeclaration {
  /** Section of the manifest, which is also the kind's name: `instances`. */
  readonly name: string;
  /** Singular, for messages: `instance`. */
  readonly noun: string;
  readonly schema: KindSchema;
  /** First word of the profile's operations of the kind: `instance` for `instance.create`. Default: `noun`. */
  readonly prefix?: string;
  /** The profile's operations. Default: those of `prefix` that list all, and create, change and delete one; a profile may lack some of them. */
  readonly operations?: Partial<Kind["operations"]>;
  /** The profile's operation that describes one: the fields that its `answer` names are shown of every object. Default: the prefix's. */
  readonly describedBy?: string;
  /** Outputs that `${section.name.output}` may name. */
  readonly outputs: readonly string[];
  /** Outputs that a change of a field in place leaves unknown until it is applied; one of the field's own name becomes its value. Default: none. */
  readonly unknownAfter?: { readonly [path: string]: readonly string[] };
  /** Outputs that an object has only while it runs. Default: none. */
  readonly ofRunning?: readonly string[];
  /** True if losing it loses data: deletion then counts as data loss. Default: false. */
  readonly holdsData?: boolean;
  /** True if it is protected when the manifest does not say. Default: false. */
  protectedByDefault?(spec: Spec): boolean;
  /** The full id of an object at a place, from the short name that a person may write. Default: as it is named. */
  idAt?(place: JsonObject, name: string): string;
  /** The field by which an object is known to be that of a create. Default: none, so that marks and times decide. */
  readonly namedBy?: string;
  /** Fields of the create class: objects of creates that differ in one of them cannot be taken for each other. */
  readonly classFields: readonly string[];
  /** Values that the service sets by itself if the spec is silent. Default: those of the field table. */
  serverDefaults?(spec: Spec): Spec;
  /** Objects of other kinds that the service creates with an object of this one. Default: none. */
  implicitChildren?(id: string, spec: { readonly [path: string]: Seen }): readonly ImplicitChild[];
  /** True if the service shows the owner that a create was marked with. Default: never. */
  marksOwner?(profile: Profile): boolean;
  /** The mark of an owner as fields that it shows; they are never declared. Default: none. */
  ownerMark?(owner: Owner): Spec;
  /** Rules of the manifest that the schema cannot say. Default: none. */
  check?(desired: Desired, context: RuleContext): readonly Finding[];
  reader(service: Reads): Reader;
  /** The writes; a kind without an in-place update or without lifecycle operations leaves them out. */
  writer(service: Service): Pick<Driver, "create" | "delete"> & Partial<Driver>;
}

/** A kind of resource: the only place that knows what it is. It translates; the engine waits, retries and reports. */
export interface Kind
  extends Omit<Required<KindDeclaration>, "prefix" | "classFields" | "writer" | "namedBy"> {
  /** Type in machine-readable plans: `graphform_instance`. */
  readonly type: string;
  readonly operations: {
    readonly list: string;
    readonly create: string;
    readonly update: string;
    readonly delete: string;
    /** Needed to back one up and to see the backup complete. Absent: it cannot be backed up. */
    readonly backup?: readonly string[];
    /** Stops a running one, and starts it again. Absent: it cannot be stopped. */
    readonly power?: readonly string[];
    /** Sets the mark of its owner. Absent: the mark cannot be changed. */
    readonly mark?: string;
  };
  readonly namedBy?: string;
  /** The path parameters of an object with this spec: the required fields of the table that belong to its place. */
  place(spec: Spec): JsonObject;
  /** Names the create class. */
  classKey(spec: Spec): string;
  driver(service: Service): Driver;
}

export interface KindRegistry {
  readonly all: readonly Kind[];
  /** The kind of a section. Throws if the composition root forgot it. */
  named(section: string): Kind;
  /** The kind of a section that a person has written; undefined if there is none. */
  find(section: string): Kind | undefined;
}

export function kindRegistry(all: readonly Kind[]): KindRegistry {
  const bySection = new Map(all.map((kind) => [kind.name, kind]));
  return {
    all,
    named: (section) => present(bySection.get(section), section),
    find: (section) => bySection.get(section),
  };
}

/** A kind, its reader or its driver, found by the kind's section. Throws if there is none: a mistake of the program. */
export function present<Found>(found: Found | undefined, section: string): Found {
  if (found === undefined) throw new Error(`no kind is called "${section}"`);
  return found;
}
