// The type of a value by its JSON Schema, as the check of arguments enforces it. What a type cannot say, such as `pattern`, is left out.
import type { JsonObject } from '../../providers/language-model.js';

/** Of a schema of type `object`. A schema whose words are not literals says little: what is not known is `unknown`, and may be missing. */
export type ObjectOf<S> = string extends keyof S
  ? JsonObject
  : Plain<Members<S, S> & Referred<S, S> & Branches<S, S>>;

/** `R` is the whole schema, for `$ref`. */
type ValueOf<S, R> = S extends false
  ? never
  : string extends keyof S
    ? unknown
    : Typed<S, R> & Listed<S> & Referred<S, R> & Branches<S, R>;

type Typed<S, R> = S extends { readonly type: infer T }
  ? T extends readonly (infer U)[]
    ? OfType<U, S, R>
    : OfType<T, S, R>
  : unknown;

type OfType<T, S, R> = T extends 'object'
  ? Plain<Members<S, R>>
  : T extends 'array'
    ? Items<S, R>
    : T extends keyof Scalars
      ? Scalars[T]
      : unknown;

interface Scalars {
  string: string;
  number: number;
  integer: number;
  boolean: boolean;
  null: null;
}

type Listed<S> = S extends { readonly enum: readonly (infer E)[] }
  ? E
  : S extends { readonly const: infer C }
    ? C
    : unknown;

type Members<S, R> = Required<S, R> & Optional<S, R> & Others<S, R>;

type Required<S, R> = {
  [K in RequiredNames<S>]: K extends keyof Properties<S> ? ValueOf<Properties<S>[K], R> : unknown;
};

type Optional<S, R> = {
  -readonly [K in keyof Properties<S> as K extends RequiredNames<S> ? never : K]?: ValueOf<
    Properties<S>[K],
    R
  >;
};

type Others<S, R> = S extends { readonly additionalProperties: infer A }
  ? A extends false
    ? unknown
    : { [name: string]: ValueOf<A, R> }
  : unknown;

type Properties<S> = S extends { readonly properties: infer P } ? P : unknown;

/** None if the list is not one of literals. */
type RequiredNames<S> = S extends { readonly required: readonly (infer N)[] }
  ? string extends N
    ? never
    : N & string
  : never;

type Items<S, R> = S extends { readonly prefixItems: infer P extends readonly unknown[] }
  ? [...{ -readonly [K in keyof P]?: ValueOf<P[K], R> }, ...MoreItems<S, R>[]]
  : MoreItems<S, R>[];

type MoreItems<S, R> = S extends { readonly items: infer I } ? ValueOf<I, R> : unknown;

type Referred<S, R> = S extends { readonly $ref: infer P }
  ? P extends '#'
    ? ValueOf<R, R>
    : Definition<P, R>
  : unknown;

type Definition<P, R> = P extends `#/${infer W extends '$defs' | 'definitions'}/${infer N}`
  ? R extends Readonly<Record<W, Readonly<Record<N, infer D>>>>
    ? ValueOf<D, R>
    : unknown
  : unknown;

type Branches<S, R> = OneOf<S, 'anyOf', R> & OneOf<S, 'oneOf', R> & AllOf<S, R>;

type OneOf<S, W extends string, R> =
  S extends Readonly<Record<W, readonly (infer B)[]>> ? ValueOf<B, R> : unknown;

type AllOf<S, R> = S extends { readonly allOf: infer B } ? All<B, R> : unknown;

type All<B, R> = B extends readonly [infer First, ...infer Rest] ? ValueOf<First, R> & All<Rest, R> : unknown;

/** One object type in place of an intersection of its parts. */
type Plain<T> = T extends object ? { [K in keyof T]: T[K] } : T;
