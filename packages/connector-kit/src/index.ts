/** The connectors' API: everything here keeps its name and meaning within a major version. Modules that are not listed are internal. */
export type {
  CallOptions,
  Connector,
  CoreApi,
  FileToSave,
  OpenedFile,
  Outbound,
  RunningConnector,
  SpeechApi,
  StartContext,
  StreamHandlers,
  TriageApi,
  UploadsApi,
} from './connector.ts';
export type { SessionsApi, WatchHandlers } from './sessions-api.ts';
export type { ConnectorState, StateValue } from './state/state.ts';
export type { Amendment, AmendOutcome, AmendResult } from '@svc/contract/amend.ts';
export { chatCommands, type ChatCommandEntry } from '@svc/contract/chat-command.ts';
export type { ConfigSchema, ConnectorMeta } from '@svc/contract/connector-meta.ts';
export type { Attachment, Capabilities, Envelope, Sender } from '@svc/contract/envelope.ts';
export type { Answered, AnswerRequest, Ask, AskAnswer, AskOption } from '@svc/contract/ask.ts';
export { askText } from '@svc/contract/ask-text.ts';
export type { ErrorCode } from '@svc/contract/error-body.ts';
export type { PartialEvent } from '@svc/contract/event.ts';
export type { About, ChannelInfo, OutboundMessage } from '@svc/contract/send.ts';
export type { Identity } from '@svc/contract/trust.ts';
export type { SessionAsker } from '@svc/contract/link.ts';
export type { History, SessionPage, SessionStreamFrame } from '@svc/contract/session.ts';
export type { Action, HandleResult, Outcome } from '@svc/contract/turn.ts';
export type { UploadedFile } from '@svc/contract/upload.ts';
export { systemClock, type Clock } from '@svc/service-kit/clock.ts';
export { badRequest, errorText, forbidden, notFound, ServiceError } from '@svc/service-kit/service-error.ts';
export { CoreError } from './core-error.ts';

export { channelKey, deviceKey, emailId, emailKey, parseKey, userKey } from './conversation-key.ts';
export { commonFields, type CommonField, type ReplyStyle } from './common-fields.ts';
export { intakeConfig } from './intake-config.ts';

export { originOf } from './http/base-url.ts';
export { checkBindHost } from './http/check-bind-host.ts';
export { createConnectorServer, type ConnectorServer, type ConnectorServerOptions } from './http/create-server.ts';
export { sendJson, type Exchange, type Reply } from './http/exchange.ts';
export { createFeed, type ConnectorFeed, type FeedOptions } from './http/feed.ts';
export { createJsonReader, type JsonReader } from './http/read-json.ts';
export type { Route } from './http/route-table.ts';
export { createStaticRoutes, type StaticOptions } from './http/static/static-routes.ts';
export { createSseWriter, type SseWriter } from './http/sse-writer.ts';

export { convertPcm, createPcmConverter, type PcmConverter, type PcmFormat } from './audio/pcm.ts';

export { checkKey, singleKeyAuth } from './check-key.ts';
export { createKeysFile, type Caller, type KeysFile } from './keys-file.ts';
export { createThrottle, type Throttle } from './throttle.ts';

export { createIngress, type Ingress, type IngressOptions } from './ingress/ingress.ts';
export { followUpdates, type Cursor, type FollowOptions } from './ingress/follow-updates.ts';
export type { OpenReply, TurnReply } from './ingress/lazy-reply.ts';

export { openChannelToggles } from './outbound/channel-toggles.ts';
export { createSendRoutes, type SendRoutesDeps } from './outbound/send-routes.ts';
export { createOutboundRoutes } from './outbound/outbound-routes.ts';
export { retryWithin, toAttempt, type RetryOptions, type Attempt } from './retry.ts';
export { splitMessage } from './split-message.ts';
export { typedText } from './typed-text.ts';

export { createChatGate, type ChatGate, type ChatGateOptions, type WriteOptions } from './reply/chat-gate.ts';
export { createReplyWriter, type ReplyWriter, type ReplyWriterOptions } from './reply/reply-writer.ts';
export type { ReplyWords } from './reply/reply-content.ts';
export type { LostMessage, Paced, Place, ReplyAlbums, ReplyFile, ReplyPlatform } from './reply/reply-platform.ts';
export type { Unsure } from './reply/reply-messages.ts';
export type { LiveEveryMs } from './reply/live-reply.ts';
export type { FirstAfter, WhenGone } from './reply/live-steps.ts';
export { takeLongCode } from './reply/long-code.ts';
export type { ReplyWork, ShowWork, WorkStep } from './reply/reply-work.ts';
export { sendParts, type PartsToSend } from './reply/send-parts.ts';
export { withWorkingSign, type WorkingSign } from './reply/working-sign.ts';
export { createTyping, type Typing, type TypingOptions, type TypingTurn } from './reply/typing.ts';
