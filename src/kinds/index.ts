import type { Kind } from "../model/kind.ts";
import { instance } from "./instance.ts";

/** Every kind that a manifest can declare. Adding one is its file and its line here. */
export const kinds: readonly Kind[] = [instance];
