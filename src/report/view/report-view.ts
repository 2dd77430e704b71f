/** @module Defines the view of a plan and of a drift report: all that the reports for people say of it, without colours and markup. */
import type { Disruption } from "../../model/field-schema.ts";
import type { Source } from "../../model/observed.ts";
import type { ForecastStep } from "../../model/plan.ts";
import { escapeText } from "../typeset.ts";

/** Severity of a part of a report; each format has its colours for it. */
export type Tone = "bad" | "careful" | "good" | "quiet";

export interface AddressView {
  readonly address: string;
  readonly id?: string;
  readonly previous?: string;
  readonly where?: string;
}

/** Kind of a field row: `replaces` forces a replacement, `drifted` was changed outside, `unimportant` differs and does not matter. */
export type FieldRole = "new" | "changed" | "replaces" | "drifted" | "unapplied" | "unimportant" | "removed";

/** One field or output. Values are quoted; a secret is `(sensitive)`. */
export interface FieldView {
  readonly path: string;
  readonly role: FieldRole;
  /** Absent if the field is new; `(not known)` if the service does not show the value. */
  readonly before?: string;
  /** `(no longer managed)` if the field is released. */
  readonly after: string;
  /** Source of `before`; absent for secrets. */
  readonly source?: Source;
  /** Source of `after`, if that value was observed. */
  readonly afterSource?: Source;
  /** `forces replacement`, `changed outside, was 25`, ...: at most two. */
  readonly notes: readonly string[];
}

/** A sentence about the resources of a block. */
export interface RemarkView {
  readonly is: "failed" | "pending" | "waiting-for-person" | "backup" | "unchecked" | "blocked" | "event";
  readonly code?: string;
  /** Empty if only the remedy is left to say. */
  readonly text: string;
  readonly remedy?: string;
}

/** One resource, or several with equal changes: their own words stand as `ADDRESS`, `ID`, `NAME`, `KEY` and `PREVIOUS` in its texts. */
export interface BlockView {
  /** Sorted by address; at least one. */
  readonly addresses: readonly AddressView[];
  readonly kind: string;
  /** Action of a change, or the event that drift consists of: `update`, `stopped`. */
  readonly word: string;
  /** True if `word` is the action of a change; the word stands before the reason then. */
  readonly isChange: boolean;
  /** The sign of `word` at the begin of a line. */
  readonly sign: string;
  readonly tone: Tone;
  readonly reason: string;
  readonly disruption: Disruption;
  /** True if every report names all of the addresses in the block. */
  readonly named: boolean;
  readonly remarks: readonly RemarkView[];
  readonly fields: readonly FieldView[];
}

export interface GroupView {
  readonly title: string;
  /** Meaning of the title for users; may be empty. */
  readonly note: string;
  readonly tone: Tone;
  /** Number of resources, not of blocks. */
  readonly count: number;
  readonly blocks: readonly BlockView[];
  /** True if the group is shown without a click. */
  readonly isOpen: boolean;
  /** True if the text shows the group only with --verbose. */
  readonly isMinor?: true;
  /** True if no empty lines separate the blocks. */
  readonly isTight?: true;
}

/** Objects that are named with at most one sentence each. */
export interface ListView {
  readonly title: string;
  readonly items: readonly { readonly is: string; readonly name: string; readonly text: string }[];
  readonly remedy?: string;
  readonly isOpen: boolean;
}

/** Resources that an apply disrupts in one way, and every report names. */
export interface AffectedView extends Pick<GroupView, "title" | "note" | "tone"> {
  /** Sorted. */
  readonly addresses: readonly string[];
}

/** A number with its words: `3 to add`. */
export interface CountView {
  readonly count: number;
  readonly word: string;
  readonly tone: Tone;
}

/** The observation that a report rests on. */
export interface CensusView {
  readonly resources: readonly CountView[];
  readonly values: readonly CountView[];
  readonly meanings: readonly string[];
  /** Databases that were asked, and lists that may not be whole. */
  readonly notes: readonly string[];
  /** Sentences about unchecked values, for formats without a list of them. */
  readonly unsure: readonly string[];
}

/** A command with its effect, or a sentence alone. */
export interface NextView {
  readonly command?: string;
  readonly text: string;
}

/** Number of changes that disrupt in one way; those that a guard blocks are counted apart. */
export interface DisruptionSum {
  readonly disruption: Disruption;
  readonly count: number;
  readonly blocked: number;
}

/** Plain data without secrets. Every text is escaped: no control or bidi character is left, and long ones lost their middle. */
export interface ReportView {
  readonly report: "plan" | "drift";
  /** `Plan for`, `Drift of`: the name follows. */
  readonly title: string;
  /** Not escaped: a pipeline finds its comment by it. */
  readonly name: string;
  /** ISO 8601. */
  readonly timestamp: string;
  /** Reasons why the report is incomplete; empty if it is complete. */
  readonly incomplete: string;
  readonly verdict: string;
  readonly tone: Tone;
  /** Values that were seen; empty for a plan. */
  readonly seen: string;
  readonly next: NextView;
  /** Command that shows the whole report: some formats cut long lists. */
  readonly whole: string;
  readonly counts: readonly CountView[];
  /** Worst first; empty if nothing loses data, is replaced or interrupted. What a guard blocks is not among them. */
  readonly affected: readonly AffectedView[];
  /** Worst first; groups without blocks are left out. */
  readonly groups: readonly GroupView[];
  readonly lists: readonly ListView[];
  readonly outputs: readonly FieldView[];
  /** Lines of a section `imports` that binds what may be there already. */
  readonly imports: readonly string[];
  readonly remedies: readonly NextView[];
  readonly census: CensusView;
  /** Restarts, replacements and time; empty if nothing changes. */
  readonly impact: string;
  /** Worst first; disruptions without changes are left out. */
  readonly disruption: readonly DisruptionSum[];
  /** The chain of steps that takes longest. */
  readonly path: readonly ForecastStep[];
  /** Facts to know before an apply. */
  readonly closing: readonly { readonly tone: Tone | "plain"; readonly text: string }[];
  /** The line of a plan that scripts read; empty for drift. */
  readonly summary: string;
  /** Fingerprint of a plan, and the serial of the state that it was made from. */
  readonly fingerprint: string;
  readonly serial?: number;
}

export const importTitle = "To bind what is there already, put this into the manifest";

const maxLength = 1000;

/** Plain data with every text escaped. */
export function escaped<T>(data: T): T;
export function escaped(data: unknown): unknown {
  if (typeof data === "string") return escapeText(data, maxLength);
  if (Array.isArray(data)) return data.map(escaped);
  if (typeof data !== "object" || data === null) return data;
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, escaped(value)]));
}

/** The common part of addresses: `caches.eu[…]`, `caches.…`, or the first of them and that there are more. */
export function commonName(addresses: readonly AddressView[]): string {
  const names = addresses.map(({ address }) => address);
  for (const [cut, rest] of [
    ["[", "[…]"],
    [".", ".…"],
  ] as const) {
    const starts = new Set(names.map((name) => name.split(cut, 1)[0]));
    if (starts.size === 1) return `${[...starts].join("")}${rest}`;
  }
  return `${names[0] ?? ""} …`;
}
