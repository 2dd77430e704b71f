/** @module Limits the memory that request bodies take at a time. */
/** A number of bytes shared by all requests. */
export interface BodyBudget {
  /** Reserves bytes; false where too few are left. */
  reserve(bytes: number): boolean;
  release(bytes: number): void;
}

/** A budget of `size` bytes. */
export function createBodyBudget(size: number): BodyBudget {
  let left = size;
  return {
    reserve(bytes) {
      if (bytes > left) return false;
      left -= bytes;
      return true;
    },
    release(bytes) {
      left += bytes;
    },
  };
}
