/** @module Defines the input for locating a service. */
import type { Hide } from "../hosting/service-options.ts";
import type { Project } from "./project.ts";

/** The parts of a project that locate its service. */
export interface ServiceTarget extends Pick<Project, "header" | "profile" | "folder"> {
  /** Hides the secrets of the run in messages of the service. */
  readonly hide?: Hide;
}
