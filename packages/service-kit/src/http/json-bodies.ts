import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ServerResponse } from '../builtin.ts';
import { freeBytes } from '../intake/byte-blocks.ts';
import { IncomingBody } from '../intake/incoming-body.ts';
import type { Intake } from '../intake/intake.ts';
import { JsonShape } from '../json-shape.ts';
import { decodeUtf8, illFormedFault } from '../well-formed.ts';
import { discardBody, receiveBody } from './receive-body.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Takes JSON bodies in this scope, within the budget of the process. `isChecked: false` leaves it to the route what is in them. */
    takeJson(how: { isChecked: boolean }): void;
  }
}

/** Bodies of JSON are counted from their first byte until their request is answered, whatever ends it. */
export function takeJsonBodies(app: FastifyInstance, intake: Intake): void {
  const answers = new WeakMap<FastifyRequest, ServerResponse>();
  app.addHook('preParsing', (request, reply, payload, done) => {
    answers.set(request, reply.raw);
    done(null, payload);
  });

  async function read(request: FastifyRequest, payload: FastifyRequest['raw'], shape: JsonShape | null): Promise<Buffer> {
    const body = new IncomingBody(intake, request.routeOptions.bodyLimit);
    const release = () => body.release();
    answers.get(request)?.once('close', release).once('finish', release);
    try {
      body.expect(Number(request.headers['content-length'] ?? 0));
      await receiveBody(payload, shape === null ? body : counted(body, shape));
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
      read(request, payload, isChecked ? new JsonShape() : null).then((bytes) => parse(request, bytes, done), done);
    });
  });
  app.takeJson({ isChecked: true });
}

/** The body, of which every part is looked at before it is kept. */
const counted = (body: IncomingBody, shape: JsonShape): Pick<IncomingBody, 'add'> => ({
  add(part) {
    shape.take(part);
    return body.add(part);
  },
});

type Done = (error: Error | null, value?: unknown) => void;
type Parse = (request: unknown, text: string, done: Done) => void;
type ParseBytes = (request: FastifyRequest, bytes: Buffer, done: Done) => void;

/** What is not well-formed Unicode, or has names that make trouble, reaches no schema and no route. */
function strict(app: FastifyInstance): ParseBytes {
  const parse = app.getDefaultJsonParser('error', 'error') as Parse;
  return withText((request, text, done) =>
    parse(request, text, (error, value) => done(error ?? illFormedFault(text, value), value)),
  );
}

/** The route checks the characters and the names. */
const lenient = (app: FastifyInstance): ParseBytes => withText(app.getDefaultJsonParser('ignore', 'ignore') as Parse);

/** Bytes that are no UTF-8 are no JSON: decoded, different ones would become the same. */
const withText =
  (parse: Parse): ParseBytes =>
  (request, bytes, done) => {
    try {
      const text = decodeUtf8(bytes);
      freeBytes(bytes);
      parse(request, text, done);
    } catch (error) {
      done(error as Error);
    }
  };
