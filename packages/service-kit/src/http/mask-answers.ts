import type { FastifyReply, FastifyRequest, onSendAsyncHookHandler } from 'fastify';
import { longJson } from '../redaction/ordered-writer.ts';
import type { MaskedJson, OutboundMask } from '../redaction/outbound-mask.ts';

export type AnswerMasks = {
  /** The mask that is applied to every response last. */
  mask: OutboundMask;
  /** A second mask, by a process that knows secrets which this one does not. */
  maskAlso?: (json: MaskedJson, request: FastifyRequest) => Promise<string>;
};

/**
 * Masks the headers and body of every response, including errors, as the last step. Bytes cannot be masked, so only a route
 * that declares them (`sendsBytes`) may send them.
 */
export function maskAnswers({ mask, maskAlso }: AnswerMasks): onSendAsyncHookHandler {
  return async (request, reply, payload) => {
    maskHeaders(reply, mask);
    if (payload === null || payload === undefined) return payload;
    if (typeof payload === 'string') {
      if (!isJson(reply)) return mask.text(payload);
      const json = payload.length > longJson ? await mask.longJsonText(payload) : mask.jsonText(payload);
      return maskAlso === undefined || reply.statusCode >= 400 ? json : maskAlso(json, request);
    }
    if (request.routeOptions.config.sendsBytes !== undefined) return payload;
    (payload as { destroy?: () => void }).destroy?.();
    throw new Error(`${request.method} ${request.routeOptions.url} sends bytes but does not declare sendsBytes in its config`);
  };
}

const isJson = (reply: FastifyReply): boolean => String(reply.getHeader('content-type')).includes('json');

function maskHeaders(reply: FastifyReply, mask: OutboundMask): void {
  const headers = Object.entries(reply.getHeaders()).flatMap(([name, value]) => (isText(value) ? [{ name, value }] : []));
  const all = headers.flatMap(({ value }) => value).join('\n');
  if (mask.text(all) === all) return;
  for (const { name, value } of headers) {
    reply.removeHeader(name); // setting a cookie header again would add to it
    void reply.header(name, typeof value === 'string' ? mask.text(value) : value.map(mask.text));
  }
}

/** A header may have several values. */
const isText = (value: unknown): value is string | string[] => typeof value === 'string' || Array.isArray(value);
