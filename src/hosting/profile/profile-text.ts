/** @module Defines a profile as its file writes it. */
import type { Profile, SessionProfile, Timing, TopologyRules } from "../../model/profile.ts";

/** An endpoint as a profile file writes it; see `profileSchema`. */
export interface EndpointText {
  /** `METHOD path`; `<name>` at its start stands for a prefix. */
  readonly request: string;
  readonly host?: "platform" | "users";
  readonly query?: { readonly [name: string]: string };
  readonly body?: { readonly [name: string]: string };
  readonly answer?: { readonly [name: string]: string | readonly string[] };
}

type Written =
  | "backupBy"
  | "lacks"
  | "session"
  | "signIn"
  | "refresh"
  | "operations"
  | "timing"
  | "fields"
  | "networkTypes"
  | "topology";

/** `TopologyRules` with one path written without its list. */
export interface TopologyText extends Pick<TopologyRules, "networkingTypes" | "never" | "first"> {
  readonly host: string | readonly string[];
  readonly port: string | readonly string[];
  readonly networkingType: string | readonly string[];
}

/** A profile file that its schema accepts, merged with the files that it extends; durations are texts. */
export interface ProfileText extends Omit<Profile, Written> {
  readonly extends?: string;
  readonly prefixes?: { readonly [name: string]: string };
  readonly query?: { readonly [name: string]: string };
  readonly fields?: { readonly [name: string]: string };
  readonly networkTypes?: readonly string[];
  readonly backupBy?: readonly string[];
  readonly lacks?: readonly string[];
  readonly omitsEmptyLists?: boolean;
  readonly topology?: TopologyText;
  readonly session: Omit<SessionProfile, "tokenLifetime" | "refreshLifetime"> & {
    readonly tokenLifetime: string;
    readonly refreshLifetime: string;
  };
  readonly signIn: EndpointText;
  readonly refresh?: EndpointText;
  readonly operations: { readonly [name: string]: EndpointText };
  readonly timing: {
    readonly settle: string;
    readonly listLag: string;
    readonly clock?: string;
    readonly endpoint: string;
    readonly poll: { readonly first: string; readonly longest: string };
    readonly expect: { readonly [operation in keyof Timing["expect"]]: string };
    readonly timeout: { readonly [operation in keyof Timing["timeout"]]: string };
  };
}
