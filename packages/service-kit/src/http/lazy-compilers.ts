import { createRequire } from 'node:module';
import type { FastifyServerOptions } from 'fastify';
import { lazily } from '../lazily.ts';

type Factory = NonNullable<NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']>;
/** Fastify's compilers as they are used here: called with options, then with a route's schema, then with data. */
type Compiler<T> = (schemas: unknown, options: unknown) => (route: Route) => T;
type Route = { schema: object };
type Validate = ((data: unknown) => unknown) & { errors?: unknown };
type Serialize = (data: unknown) => string;

const require = createRequire(import.meta.url);

/** By schema: all apps of a process use the same options, and no schema refers to another. */
const validators = new WeakMap<object, Validate>();

function validatorOf(route: Route, compile: (route: Route) => Validate): Validate {
  const validate = validators.get(route.schema) ?? compile(route);
  validators.set(route.schema, validate);
  return validate;
}

/**
 * Fastify's own schema compilers, called with the first request of a route: a service has many routes, most are seldom used,
 * and compiling all of them would take a third of its start.
 */
export const lazyCompilers = {
  buildValidator(schemas: unknown, options: unknown) {
    const compiler = lazily(() => (require('@fastify/ajv-compiler') as () => Compiler<Validate>)()(schemas, options));
    return (route: Route) => {
      const compile = lazily(() => validatorOf(route, compiler()));
      // Fastify reads the errors off the function it has called.
      const validate: Validate = (data) => {
        const compiled = compile();
        const result = compiled(data);
        validate.errors = compiled.errors;
        return result;
      };
      return validate;
    };
  },
  buildSerializer(schemas: unknown, options: unknown) {
    const compiler = lazily(() =>
      (require('@fastify/fast-json-stringify-compiler') as () => Compiler<Serialize>)()(schemas, options),
    );
    return (route: Route) => {
      const compile = lazily(() => compiler()(route));
      return (data: unknown) => compile()(data);
    };
  },
} as unknown as Factory; // its own types are those of Ajv's compiled functions, of which Fastify needs no more than this
