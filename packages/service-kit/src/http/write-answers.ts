import { callbackify } from 'node:util';
import type { FastifyReply, preSerializationHookHandler } from 'fastify';
import { isLong, writeInTurns } from '../json/write-steps.ts';

/** Writes long responses as JSON in turns of the event loop. A route with a response schema has short ones. */
export const writeAnswers: preSerializationHookHandler = (request, reply, payload, done) => {
  if (isLong(payload) && request.routeOptions.schema?.response === undefined) write(payload, reply, done);
  else done(null, payload);
};

const write = callbackify(async (payload: unknown, reply: FastifyReply): Promise<string> => {
  const json = await writeInTurns(payload);
  reply.serializer(asItIs);
  return json;
});

const asItIs = (json: unknown): string => json as string;
