/** @module Builds the path of operations on the instances of a component. */
import type { Dialect } from "../dialect/dialect.ts";
import { version } from "./contract.ts";

/** Path with the parameters `:model`, `:tier` and `:resource`. */
export function componentPath({ provider, service }: Dialect): string {
  return `${version}/resource-instance/${provider}/${service}/v1/prod/:model/:tier/:resource`;
}
