/** @module Separates the differences that a saved plan had to settle from all others. */
import type { Address } from "../model/address.ts";
import type { Change, Plan } from "../model/plan.ts";

/** The second plan in two parts. */
export interface SplitPlan {
  /** The second plan, without what the saved one is not about: it has to be empty. */
  readonly promised: Plan;
  /** One line for each address that differs otherwise: the next plan is about it. */
  readonly others: readonly { readonly address: Address; readonly message: string }[];
}

/**
 * Splits the second plan by the saved one that was carried out. A saved plan answers for what it had to do: what it left
 * out, and what somebody has changed since it was made, is the next plan's.
 */
export function splitBySaved(saved: Plan, second: Plan): SplitPlan {
  const planned = new Map(saved.changes.map((change) => [change.address, change]));
  const parts = second.changes.map((change) => split(change, planned.get(change.address)));
  return {
    promised: { ...second, changes: parts.flatMap(({ promised }) => promised ?? []) },
    others: parts.flatMap(({ other, why }) =>
      other === undefined ? [] : [{ address: other.address, message: messageOf(other, why) }],
    ),
  };
}

interface Split {
  readonly promised?: Change;
  readonly other?: Change;
  readonly why: string;
}

const sinceThen = "changed since this plan was made, and left as it is";

/** The part of a change that the saved plan had to settle, and the rest. */
function split(change: Change, saved: Change | undefined): Split {
  if (change.action === "keep") return { promised: change, why: "" };
  if (saved === undefined) return { other: change, why: "not part of this plan" };
  if (saved.action === "keep") return { other: change, why: sinceThen };
  const isAboutAll = change.fields.length === 0 || saved.action === "create" || saved.action === "replace";
  if (isAboutAll || saved.blocked.length > 0) return { promised: change, why: "" };
  const settled = new Set(saved.fields.map(({ path }) => path));
  const mine = change.fields.filter(({ path }) => settled.has(path));
  const rest = change.fields.filter(({ path }) => !settled.has(path));
  return {
    ...(mine.length === 0 ? {} : { promised: { ...change, fields: mine } }),
    ...(rest.length === 0 ? {} : { other: { ...change, fields: rest } }),
    why: sinceThen,
  };
}

function messageOf({ fields, reason }: Change, why: string): string {
  const what = fields.length === 0 ? reason : fields.map(({ path }) => path).join(", ");
  return `${why}: ${what}; graphform plan shows it`;
}
