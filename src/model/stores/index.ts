/** @module Lists the stores that a state can be kept in; each line of the list is a store. */
import { file } from "./file.ts";
import { http } from "./http.ts";
import { postgres } from "./postgres.ts";
import { s3 } from "./s3.ts";
import type { StoreDescription, StoreKey, StoreVariable } from "./store-description.ts";

const all: {
  readonly file: typeof file;
  readonly http: typeof http;
  readonly s3: typeof s3;
  readonly postgres: typeof postgres;
} = { file, http, s3, postgres };

/** The word that the manifest has for a store. */
export type StoreType = keyof typeof all;

/** A location that a state can be kept in. Holds no credentials. */
export type StateLocation = ReturnType<(typeof all)[StoreType]["locate"]>;

export const stores: { readonly [type in StoreType]: StoreDescription<StateLocation> } = all;

export function isStoreType(word: unknown): word is StoreType {
  return typeof word === "string" && Object.hasOwn(stores, word);
}

export function storeTypes(): readonly StoreType[] {
  return Object.keys(stores).filter(isStoreType);
}

/** The keys of all stores; no two stores have a key of one name. */
export function storeKeys(): { readonly [key: string]: StoreKey } {
  return Object.assign({}, ...Object.values(stores).map(({ keys }) => keys));
}

/** The variables of all stores, by their names. */
export function storeVariables(): { readonly [name: string]: StoreVariable } {
  return Object.assign({}, ...Object.values(stores).map(({ variables }) => variables));
}
