/** @module Finds what an earlier run on this machine could not store, and words the refusal to go on without it. */
import type { Clock } from "../../model/clock.ts";
import { GraphformError, isGraphformError, shellWord } from "../../model/errors.ts";
import type { StateDocument } from "../../model/state.ts";
import type { ErroredFiles, FoundErrored } from "../errored-files.ts";
import {
  boundObjects,
  type CreatedObject,
  type ErroredState,
  standingOf,
  stateToPush,
  unknownObjects,
} from "../errored-state.ts";
import type { Unpushed } from "../store.ts";
import type { StateDriver } from "./driver.ts";
import { readableState } from "./read-stored.ts";
import { untilAnswered } from "./store-retry.ts";

/**
 * Makes a function that finds the first file which says something the stored state does not know; undefined where there is none.
 * The state is read only where there is a file. With `isRemoving`, files that are not needed any more are removed.
 */
export function unpushedFinder(
  driver: StateDriver,
  name: string,
  clock: Clock,
  files: ErroredFiles,
): (options: { readonly isRemoving: boolean }) => Promise<Unpushed | undefined> {
  const { where } = driver;
  return async ({ isRemoving }) => {
    const found = await files.find();
    if (found.length === 0) return undefined;
    const stored = await untilAnswered(() => driver.read(), { clock });
    // Whoever reads it says what is wrong with it, or where it was moved to.
    const current = readableState(stored?.text, where, name);
    if (stored !== undefined && current === undefined) return undefined;
    const all = found.map(({ path, content }) => judge(path, content, current, where));
    const known = found.filter((_, index) => all[index] === "known");
    if (isRemoving) await Promise.all(known.map(({ path }) => files.remove(path).catch(() => undefined)));
    return all.find((one) => typeof one === "object");
  };
}

function judge(
  file: string,
  content: FoundErrored["content"],
  stored: StateDocument | undefined,
  where: string,
): Unpushed | "known" | "elsewhere" {
  if (content instanceof Error) return { file, refusal: unreadable(file, content) };
  const standing = standingOf(content, stored, where);
  if (standing === "known" || standing === "elsewhere") return standing;
  const unknown = unknownObjects(content, stored);
  return standing === "fits"
    ? { file, refusal: unpushed(file, where, unknown), state: stateToPush(content, stored) }
    : {
        file,
        refusal: isSame(content, stored)
          ? overtaken(file, where, unknown)
          : foreign(file, where, boundObjects(content)),
      };
}

/** Lists objects as `ADDRESS is ID`. */
export function createdWords(objects: readonly CreatedObject[]): string {
  return objects.map(({ address, id }) => `${address} is ${id}`).join(", ");
}

/** Says what to do where the state that a run worked with is not stored any more. */
export function lostState(file: string, bound: readonly CreatedObject[]): string {
  const back = "put that state back from a copy (its store may keep versions), then push the file";
  if (bound.length === 0) return `${back}; or, where it is given up: ${moveAway(file)}`;
  return `${back}; where there is none, apply would create every object once more: ${bindByHand(file, bound)}`;
}

/** Says how objects that no state binds are bound, after their file was moved away. */
export function bindByHand(file: string, objects: readonly CreatedObject[]): string {
  const [few, more] = [objects.slice(0, 10), objects.length - 10];
  const imports = few.map(({ address, id }) => `graphform import ${shellWord(address)} ${shellWord(id)}`);
  const rest = more > 0 ? `; and ${more} more, which the file names` : "";
  const look = "look whether each of them is still at the service";
  return `${look}; then move the file away: ${moveAway(file)}, and bind those that are to be kept, at addresses that are free: ${imports.join("; ")}${rest}`;
}

function unpushed(file: string, where: string, unknown: readonly CreatedObject[]): GraphformError {
  const [few, more] = [unknown.slice(0, 3), unknown.length - 3];
  const made = unknown.length === 0 ? "" : `: ${createdWords(few)}${more > 0 ? ` and ${more} more` : ""}`;
  return refusal(
    `${file} has what an earlier run did and could not store at ${where}${made}`,
    `store it: graphform state push ${shellWord(file)}, then run the command again; to go on without it all the same: ${moveAway(file)}`,
  );
}

function overtaken(file: string, where: string, unknown: readonly CreatedObject[]): GraphformError {
  return refusal(
    `${file} has what an earlier run made, and ${where} was written to since without it: ${createdWords(unknown)}`,
    bindByHand(file, unknown),
  );
}

function foreign(file: string, where: string, bound: readonly CreatedObject[]): GraphformError {
  return refusal(
    `${file} has what an earlier run did, and what is stored at ${where} is not the state that it worked with`,
    lostState(file, bound),
  );
}

function isSame({ state }: ErroredState, stored: StateDocument | undefined): boolean {
  return stored?.lineage === state.lineage;
}

function unreadable(file: string, cause: Error): GraphformError {
  const words = isGraphformError(cause) ? cause.message : `${file} cannot be read`;
  return refusal(
    `${words}; a run that could not store its state left it`,
    `it may name objects that are known nowhere else: push another copy of it, or bind them with graphform import after: ${moveAway(file)}`,
    cause,
  );
}

function moveAway(file: string): string {
  return `mv ${shellWord(file)} ${shellWord(`${file}.old`)}`;
}

function refusal(message: string, hint: string, cause?: unknown): GraphformError {
  return new GraphformError("state-unpushed", message, { hint, cause });
}
