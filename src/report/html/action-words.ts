/** @module Names actions, disruptions and severities on report pages. */
import type { Disruption } from "../../model/field-schema.ts";
import type { Action } from "../../model/plan.ts";
import type { BlockView } from "../view/block-view.ts";
import { type Markup, markup } from "./markup.ts";

/** A class of the style sheet that gives an element its colours. */
export type Tone = "bad" | "careful" | "good" | "quiet";

/** Sign, word and colours of each action. The sign repeats the word for eyes that are used to Terraform. */
export const actionWords: {
  readonly [action in Action]: { readonly sign: string; readonly word: string; readonly tone: Tone };
} = {
  create: { sign: "+", word: "create", tone: "good" },
  update: { sign: "~", word: "update", tone: "careful" },
  replace: { sign: "±", word: "replace", tone: "bad" },
  delete: { sign: "−", word: "delete", tone: "bad" },
  adopt: { sign: "↳", word: "adopt", tone: "quiet" },
  move: { sign: "→", word: "move", tone: "quiet" },
  forget: { sign: "○", word: "forget", tone: "quiet" },
  keep: { sign: "=", word: "keep", tone: "quiet" },
};

/** Word and colours of each disruption. */
export const disruptionWords: {
  readonly [disruption in Disruption]: { readonly word: string; readonly tone: Tone };
} = {
  "data-loss": { word: "data loss", tone: "bad" },
  downtime: { word: "downtime", tone: "careful" },
  restart: { word: "restart", tone: "careful" },
  none: { word: "nobody interrupted", tone: "good" },
};

/** A word in its colours. */
export function chip(word: string, tone: Tone): Markup {
  return markup`<span class="chip ${tone}">${word}</span>`;
}

/** The words beside the address of a block: action, disruption, blocked. */
export function chipsOf({ action, disruption, guards }: BlockView): readonly Markup[] {
  const { word, tone } = actionWords[action];
  const felt = disruptionWords[disruption];
  return [
    chip(word, tone),
    ...(disruption === "none" ? [] : [chip(felt.word, felt.tone)]),
    ...(guards.length === 0 ? [] : [chip("blocked", "bad")]),
  ];
}
