/** @module Lists every kind that a manifest can declare. */
import { type KindRegistry, kindRegistry } from "../model/kind.ts";
import { cloudAccount } from "./cloud-account.ts";
import { instance } from "./instance.ts";
import { network } from "./network.ts";
import { user } from "./user.ts";

/** Every kind that a manifest can declare. docs/adding-a-kind.md says what adding one takes. */
export const kinds: KindRegistry = kindRegistry([cloudAccount, network, instance, user]);
