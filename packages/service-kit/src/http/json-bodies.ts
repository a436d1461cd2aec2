import { callbackify } from 'node:util';
import { errorCodes, type FastifyInstance, type FastifyRequest } from 'fastify';
import type { ServerResponse } from '../builtin.ts';
import { freeBytes } from '../intake/byte-blocks.ts';
import { IncomingBody } from '../intake/incoming-body.ts';
import type { Intake } from '../intake/intake.ts';
import { JsonShape, looseJsonLimits, usualJsonLimits } from '../json-shape.ts';
import { isReadInTurns, parseLongJson, poisonSteps } from '../json/read-json.ts';
import { inTurns } from '../redaction/pace.ts';
import { decodeUtf8, illFormedFault, refuseIllFormed } from '../well-formed.ts';
import { discardBody, receiveBody, refuseCompressed } from './receive-body.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Accepts JSON bodies in this scope, within the budget of the process. `isChecked: false`: the route checks the content, within loose limits. */
    takeJson(how: { isChecked: boolean }): void;
  }
}

/** JSON bodies count against the budget from their first byte until their request has ended. */
export function takeJsonBodies(app: FastifyInstance, intake: Intake): void {
  const answers = new WeakMap<FastifyRequest, ServerResponse>();
  app.addHook('preParsing', (request, reply, payload, done) => {
    answers.set(request, reply.raw);
    done(null, payload);
  });

  async function read(request: FastifyRequest, payload: FastifyRequest['raw'], shape: JsonShape): Promise<Buffer> {
    const body = new IncomingBody(intake, request.routeOptions.bodyLimit);
    const release = () => body.release();
    answers.get(request)?.once('close', release).once('finish', release);
    try {
      refuseCompressed(request.headers);
      body.expect(Number(request.headers['content-length'] ?? 0));
      await receiveBody(payload, body, shape);
      return await body.read();
    } catch (error) {
      release();
      discardBody(payload);
      throw error;
    }
  }

  app.decorate('takeJson', function (this: FastifyInstance, { isChecked }: { isChecked: boolean }) {
    const parse = (isChecked ? strict : lenient)(this);
    this.removeContentTypeParser('application/json');
    this.addContentTypeParser('application/json', (request, payload, done) => {
      const shape = new JsonShape(isChecked ? usualJsonLimits : looseJsonLimits);
      read(request, payload, shape).then((bytes) => {
        if (isReadInTurns(bytes, shape)) parseLong(bytes, isChecked, done);
        else parse(request, bytes, done);
      }, done);
    });
  });
  app.takeJson({ isChecked: true });
}

type Done = (error: Error | null, value?: unknown) => void;
type Parse = (request: unknown, text: string, done: Done) => void;
type ParseBytes = (request: FastifyRequest, bytes: Buffer, done: Done) => void;

/** Refuses text that is not well-formed Unicode, and dangerous field names, before the schema and the route. */
function strict(app: FastifyInstance): ParseBytes {
  const parse = app.getDefaultJsonParser('error', 'error') as Parse;
  return withText((request, text, done) =>
    parse(request, text, (error, value) => done(error ?? illFormedFault(text, value), value)),
  );
}

/** The same for a long body, parsed in turns of the event loop. */
const parseLong = callbackify(async (bytes: Buffer, isChecked: boolean): Promise<unknown> => {
  const parsed = await parseLongJson(isMarked(bytes) ? bytes.subarray(3) : bytes).catch((error: unknown) => {
    throw error instanceof SyntaxError ? new errorCodes.FST_ERR_CTP_INVALID_JSON_BODY() : error;
  });
  if (!isChecked) return parsed.value;
  if (await inTurns(poisonSteps(parsed))) throw new errorCodes.FST_ERR_CTP_INVALID_JSON_BODY();
  await refuseIllFormed(parsed);
  return parsed.value;
});

/** A byte order mark, which Fastify's parser skips. */
const isMarked = (bytes: Buffer): boolean => bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;

/** The route checks the characters and the names. */
const lenient = (app: FastifyInstance): ParseBytes => withText(app.getDefaultJsonParser('ignore', 'ignore') as Parse);

/**
 * Refuses bytes that are not UTF-8, because different ones would decode to the same text. An empty body is no body: many clients
 * send the content type with every request, and the schema decides whether a body is required.
 */
const withText =
  (parse: Parse): ParseBytes =>
  (request, bytes, done) => {
    if (bytes.length === 0) return done(null);
    try {
      const text = decodeUtf8(bytes);
      freeBytes(bytes);
      parse(request, text, done);
    } catch (error) {
      done(error as Error);
    }
  };
