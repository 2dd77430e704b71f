/** @module Writes a post that there may be only one of, although answers get lost. */
import type { Clock } from "../../model/clock.ts";
import { repeatRequest } from "../../network/repeat-request.ts";
import { tries } from "./api.ts";
import type { Post } from "./forge.ts";
import { wasLost } from "./forge-error.ts";

/** Requests about one post, which is found by its marker. */
export interface OnePost {
  readonly find: () => Promise<readonly Post[]>;
  readonly add: () => Promise<void>;
  readonly edit: (earlier: readonly Post[]) => Promise<void>;
}

/**
 * Adds a post where there is none, and edits what is there. An addition whose answer was lost may have worked: it is looked for again
 * before it is repeated. Returns the posts that were edited.
 */
export function writeOnce({ find, add, edit }: OnePost, clock: Clock): Promise<readonly Post[]> {
  return repeatRequest(
    async () => {
      const earlier = await find();
      if (earlier.length === 0) await add();
      else await edit(earlier);
      return earlier;
    },
    { ...tries, passing: wasLost },
    clock,
  );
}
