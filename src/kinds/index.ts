/** @module Lists every kind that a manifest can declare. */
import { fieldRows } from "../model/field-schema.ts";
import { type KindRegistry, kindRegistry } from "../model/kind.ts";
import type { Reads } from "../model/service.ts";
import { cloudAccount } from "./cloud-account.ts";
import { instance } from "./instance.ts";
import { network } from "./network.ts";
import { wireName } from "./resource.ts";
import { user } from "./user.ts";

/** Every kind that a manifest can declare. docs/adding-a-kind.md says what adding one takes. */
export const kinds: KindRegistry = kindRegistry([cloudAccount, network, instance, user]);

/** The names of the secret fields of every kind on the wire. */
export function secretNames(service: Pick<Reads, "profile">): readonly string[] {
  return kinds.all
    .flatMap(({ schema }) => [...fieldRows(schema)])
    .flatMap(([path, row]) => (row["x-secret"] === true ? [wireName(path, row, service)] : []));
}
