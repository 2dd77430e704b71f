/** @module Lists every kind that a manifest can declare. */
import type { Kind } from "../model/kind.ts";
import { cloudAccount } from "./cloud-account.ts";
import { instance } from "./instance.ts";
import { network } from "./network.ts";
import { user } from "./user.ts";

/** Every kind that a manifest can declare. Adding one is its file and its line here. */
export const kinds: readonly Kind[] = [cloudAccount, network, instance, user];
