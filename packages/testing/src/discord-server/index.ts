import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import { http, type IncomingMessage, type ServerResponse } from '@svc/service-kit/builtin.ts';
import { answerWith, takesEffect, type PlatformFault } from '../chat-platform/platform-faults.ts';
import { listen } from '../listen.ts';
import { createFaults, isTooMany, type Faults, type TelegramFault } from '../telegram-server/telegram-faults.ts';
import { createAnnounce } from './announce.ts';
import { ApiError } from './api-types.ts';
import type { BotOptions, BotProfile } from './bot-profile.ts';
import { createCalls, toAnswer, type CallResult, type ReadCall, type RecordedCall } from './create-calls.ts';
import { createFiles } from './create-files.ts';
import { createInteractions } from './create-interactions.ts';
import { createMessages } from './create-messages.ts';
import { createWorld } from './create-world.ts';
import { readOpenApi } from './description/openapi-description.ts';
import { createFirstEvents } from './first-events.ts';
import { createGateway, type GatewayControls, type GatewayOptions } from './gateway/create-gateway.ts';
import { createPeople, type People } from './people.ts';
import { createPeopleInteractions, type PeopleInteractions } from './people-interactions.ts';
import { createPeoplePlaces, type PeoplePlaces } from './people-places.ts';
import type { Platform } from './platform.ts';
import { createRateLimits, tooManyRequests, usualLimits, type DiscordLimits, type Offence } from './rate-limits.ts';
import { viewChannel, type SeenMessage } from './view-channel.ts';
import type { Channel } from './model.ts';

export type DiscordServerOptions = BotOptions &
  GatewayOptions & {
    port?: number;
    /** No limits by default; `{}`: the usual ones. */
    limits?: Partial<DiscordLimits>;
    /** How much faster the limits' time goes. */
    timeScale?: number;
    clock?: Clock;
    /** How long an interaction waits for its answer. */
    interactionMs?: number;
    maxFileBytes?: number;
  };

export type DiscordServer = People &
  PeoplePlaces &
  PeopleInteractions &
  Faults & {
    /** The value for `rest.api`. */
    apiUrl: string;
    /** The address of files. */
    cdnUrl: string;
    /** The first bot. */
    bot: BotProfile;
    token: string;
    gateway: GatewayControls;
    /** All requests to known routes, in order. */
    calls: RecordedCall[];
    /** Requests and own answers that violate the API description, and other misbehaviour of clients. */
    violations: string[];
    /** Requests that the limits refused; `early`: sent although the client was told to wait. */
    offences: Offence[];
    /** All messages of a channel in order. */
    messages(channel: Channel): SeenMessage[];
    /** The bots' messages that are not deleted, in order. */
    replies(channel: Channel): SeenMessage[];
    /** Cuts all connections, as in a restart of the server. */
    cutConnections(): void;
    close(): Promise<void>;
  };

/**
 * A small Discord on loopback, REST and gateway, modelled on the documented behaviour. Every request and every answer is checked against the
 * published description of the API: a test ends with `expect(server.violations).toEqual([])`.
 *
 *     const server = await startDiscordServer();
 *     onTestFinished(() => server.close());
 *     const client = new Client({ intents, partials, rest: { api: server.apiUrl } });    // or the instance's api_url
 *     await client.login(server.token);
 *
 *     const ann = server.person('Ann');
 *     const guild = server.guild('Work', [ann]);                                         // the bot is in it, too
 *     const general = server.channel(guild, 'general');
 *     server.say({ from: ann, channel: general, text: `<@${server.bot.user.id}> hello` });
 *     server.say({ from: ann, channel: server.dm(ann), text: 'hello' });
 *     await expect.poll(() => server.replies(general).map(({ text }) => text)).toEqual(['…']);
 *     server.command({ from: ann, channel: general, name: 'ask', options: { question: '…' } }).shown
 *
 * `limits: {}` sets limits with their headers; breaking them is answered by 429; `failNext` and `fault` let requests fail, by the names
 * of operations in the description (`create_message`); `gateway` cuts, closes and invalidates sessions; `eventFaults` sends events twice
 * and out of order. `addBot` adds another bot, for rooms with several.
 */
export async function startDiscordServer(options: DiscordServerOptions = {}): Promise<DiscordServer> {
  const { port = 0, clock = systemClock, timeScale = 1, interactionMs = 3000, maxFileBytes = 10 * 1024 * 1024 } = options;
  const violations: string[] = [];
  const note = (fault: string): void => void violations.push(fault);
  const bots = new Map<string, BotProfile>();
  const world = createWorld(clock);
  const gatewayUrl = (): string => `${url.replace('http', 'ws')}/gateway`;
  const gateway = createGateway(
    { bots, clock, note, firstEvents: createFirstEvents(world, () => `${gatewayUrl()}/resume`) },
    options,
  );
  const limits = createRateLimits(options.limits === undefined ? null : { ...usualLimits, ...options.limits }, clock, timeScale);
  const platform: Platform = {
    bots,
    world,
    messages: createMessages(world, clock),
    files: createFiles(world, () => url, maxFileBytes),
    interactions: createInteractions(() => world.nextId(), clock, interactionMs),
    announce: createAnnounce(world, (event) => gateway.dispatch(event)),
    description: readOpenApi(),
    clock,
    get gatewayUrl() {
      return gatewayUrl();
    },
    note,
  };
  const calls = createCalls(platform, limits);
  const { failNext, choose } = createFaults();

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url ?? '/';
    if (path.startsWith('/attachments/'))
      return sendFile(platform, response, path, choose(server, { method: 'file', params: {} }));
    const [, rest] = /^\/api\/v10(\/.*)$/.exec(path) ?? [];
    if (rest === undefined) return send(response, toAnswer(new ApiError(404, 0, '404: Not Found')));
    const call = await calls.read(request, rest);
    const fault = choose(server, { method: call.found.id, params: call.body as Record<string, unknown> });
    if (fault === 'cut before') return void response.destroy();
    if (isTooMany(fault)) return send(response, toAnswer(tooManyRequests(fault.retryAfterS, 'shared')));
    const result = takesEffect(fault) ? calls.run(call) : { status: 200, body: {}, headers: {} };
    noteAnswer(call, response, fault);
    send(response, result, fault);
  };
  const httpServer = http.createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      if (error instanceof ApiError) return send(response, toAnswer(error));
      note(`this server failed: ${error instanceof Error ? error.stack : String(error)}`);
      response.destroy();
    });
  });
  httpServer.on('upgrade', (request, socket, head) => {
    socket.on('error', () => undefined); // a process that is killed resets what it was opening
    gateway.upgrade(request, socket, head);
  });
  const { url, close } = await listen(httpServer, port);

  const places = createPeoplePlaces(platform);
  const bot = places.addBot(options);
  const server: DiscordServer = {
    ...createPeople(platform),
    ...places,
    ...createPeopleInteractions(platform),
    apiUrl: `${url}/api`,
    cdnUrl: url,
    bot,
    token: bot.token,
    gateway: gateway.controls,
    calls: calls.recorded,
    violations,
    offences: limits.refused,
    fault: () => undefined,
    failNext,
    messages: viewChannel,
    replies: (channel) => viewChannel(channel).filter((one) => one.isBot && !one.isDeleted),
    cutConnections() {
      gateway.controls.drop();
      httpServer.closeAllConnections();
    },
    close() {
      gateway.close();
      return close();
    },
  };
  return server;
}

function noteAnswer({ record }: ReadCall, response: ServerResponse, fault: PlatformFault | undefined): void {
  const isTrue = fault === undefined || (typeof fault === 'object' && 'slowMs' in fault);
  response.once('finish', () => (record.isAnswered = isTrue));
}

function sendFile({ files }: Platform, response: ServerResponse, path: string, fault?: TelegramFault): void {
  if (fault === 'cut before') return void response.destroy();
  const { pathname, searchParams } = new URL(path, 'http://x');
  const file = files.read(pathname, searchParams);
  if (file === undefined) return send(response, { status: 404, body: 'This content is no longer available.', headers: {} });
  answerWith(response, 200, file.bytes, file.mime, isTooMany(fault) ? { status: 429, when: 'before' } : fault);
}

function send(response: ServerResponse, { status, body, headers }: CallResult, fault?: PlatformFault): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (body === undefined && fault === undefined) return void response.writeHead(status).end();
  answerWith(response, status, Buffer.from(body === undefined ? '' : JSON.stringify(body)), 'application/json', fault);
}
