/** Replaces the contract's `schema.ts` in the published kit, so that its types need no other package. */
export type Schema = boolean | { readonly [keyword: string]: unknown };

type Names<S> = S extends { required: readonly (infer Name)[] } ? Name : never;
type Fields<P, Required> = { [Name in keyof P as Name extends Required ? Name : never]: Static<P[Name]> } & {
  [Name in keyof P as Name extends Required ? never : Name]?: Static<P[Name]>;
};
type Plain = { string: string; integer: number; number: number; boolean: boolean; null: null };

/** The TypeScript type of a schema literal, for the keywords that the kit's own schemas use. */
export type Static<S> = S extends { const: infer Value }
  ? Value
  : S extends { enum: readonly (infer Value)[] }
    ? Value
    : S extends { type: 'object'; properties: infer P }
      ? { [name: string]: unknown } & Fields<P, Names<S>>
      : S extends { type: 'array'; items: infer Item }
        ? Static<Item>[]
        : S extends { type: infer Name extends keyof Plain }
          ? Plain[Name]
          : unknown;
