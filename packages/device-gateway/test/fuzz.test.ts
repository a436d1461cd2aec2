import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openGateway } from './open-gateway.ts';

type JsonSchema = {
  type?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  enum?: unknown[];
  maxLength?: number;
  maxItems?: number;
  pattern?: string;
};
type Operation = { requestBody?: { content: Record<string, { schema: JsonSchema }> } };

const odd = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom<unknown>(null, '', '\ud800', '\u0000', '../../etc/passwd', -1, 1e308, {}, [], '__proto__', 'x'.repeat(100_000)),
);

/** Values of a schema, in which any part may be replaced by an odd value. */
function fromSchema(schema: JsonSchema): fc.Arbitrary<unknown> {
  const fitting = (): fc.Arbitrary<unknown> => {
    if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
    switch (schema.type) {
      case 'object': {
        const parts = Object.entries(schema.properties ?? {}).map(([name, part]) => [name, fromSchema(part)] as const);
        return fc.record(Object.fromEntries(parts), {
          requiredKeys: (schema.required ?? []).filter((name) => name in (schema.properties ?? {})),
        });
      }
      case 'array':
        return fc.array(fromSchema(schema.items ?? {}), { maxLength: 4 });
      case 'string':
        return fc.oneof(
          fc.string({ maxLength: 20 }),
          fc.constantFrom('m1', 'geolocation', 'd_1'),
          fc.string({ unit: 'binary', maxLength: 20 }),
        );
      case 'integer':
        return fc.integer({ min: -5, max: 70_000 });
      case 'boolean':
        return fc.boolean();
      default:
        return fc.jsonValue();
    }
  };
  return fc.oneof({ weight: 6, arbitrary: fitting() }, { weight: 1, arbitrary: odd });
}

const header = fc.stringMatching(/^[\x20-\x7e]{0,60}$/);

test('no route answers 5xx, whatever it receives', async () => {
  const gateway = await openGateway();
  const { token } = await gateway.device('Phone');
  const { paths } = (await gateway.json(null, 'GET', '/openapi.json')).body as {
    paths: Record<string, Record<string, Operation>>;
  };
  const routes = Object.entries(paths).flatMap(([where, operations]) =>
    Object.entries(operations).map(([method, { requestBody }]) => ({
      where,
      method: method.toUpperCase(),
      schema: requestBody?.content['application/json']?.schema,
    })),
  );
  // Streams do not end, and the device must stay paired.
  const ends = routes.filter(
    ({ where, method }) => !['/gw/stream', '/gw/control'].includes(where) && !(method === 'DELETE' && where === '/gw/device'),
  );
  expect(ends.length).toBeGreaterThan(25);
  for (const { where, method, schema } of ends) {
    const query = fc.oneof(
      fc.constant(''),
      fc.webQueryParameters().map((text) => `?${text}`),
      fc.constantFrom('?before=-1', '?limit=0', '?conversation_key=%00', '?filename=..%2F..'),
    );
    const body = method === 'GET' ? fc.constant(undefined) : fromSchema(schema ?? {});
    await fc.assert(
      fc.asyncProperty(body, query, fc.option(header), async (sent, asked, language) => {
        const headers: Record<string, string> =
          language === null ? {} : { 'accept-language': language, 'last-event-id': language };
        const answer = await gateway.ask(
          token,
          method,
          `${where.replace(/[{}]/g, '')}${asked}`,
          method === 'GET' ? undefined : (sent ?? null),
          headers,
        );
        await answer.arrayBuffer();
        expect(answer.status, `${method} ${where} ${JSON.stringify(sent)}`).toBeLessThan(500);
      }),
      { numRuns: 40 },
    );
  }
}, 120_000);

test.each(['before', 'limit', 'conversation_key'])('a stream with an odd %s does not answer 5xx', async (name) => {
  const gateway = await openGateway();
  const { token } = await gateway.device('Phone');
  for (const value of ['', '%00', '%ff', '-1', 'x'.repeat(5000), '%F0%9F%98%80']) {
    const { status, leave } = await gateway.read(token, `/gw/stream?${name}=${value}`);
    leave();
    expect(status).toBeLessThan(500);
  }
});
