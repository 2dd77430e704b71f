import type { Dialect } from "../dialect/dialect.ts";
import { version } from "./contract.ts";

/** Path of every operation on instances of one component: P of the contract. */
export function componentPath({ provider, service }: Dialect): string {
  return `${version}/resource-instance/${provider}/${service}/v1/prod/:model/:tier/:resource`;
}
