import type { Command } from 'commander';
import type { AnnounceRequest } from '../announce/announce-command.ts';
import type { BackupCommand } from '../commands/backup.ts';
import type { ChatOptions } from '../commands/chat.ts';
import type { DeliveriesOptions } from '../commands/deliveries.ts';
import type { EventsOptions } from '../commands/events.ts';
import type { LogsOptions } from '../commands/logs.ts';
import type { OtelAction, OtelOptions } from '../commands/otel.ts';
import type { PairOptions } from '../commands/pair.ts';
import type { PersonaOptions } from '../commands/persona.ts';
import type { SearchOptions } from '../commands/search.ts';
import type { SendOptions } from '../commands/send.ts';
import type { SpeakOptions, TranscribeOptions } from '../commands/speech.ts';
import type { TestOptions } from '../commands/test.ts';
import type { UsageOptions } from '../commands/usage.ts';
import type { UpdateOptions } from '../commands/update.ts';
import type { VaultCommand } from '../commands/vault.ts';
import type { ConnectorRequest, NewRequest } from '../connector/connector-command.ts';
import type { DeliveryAction } from '../deliveries/delivery-api.ts';
import type { DeviceRequest } from '../device/device-command.ts';
import type { EngineAction, EngineOptions } from '../engine/engine-command.ts';
import type { AuthRequest } from '../auth/auth-command.ts';
import type { FolderRequest } from '../folder/folder-command.ts';
import type { SessionRequest, SessionsOptions } from '../session/session-command.ts';
import type { KeyRequest } from '../key/key-command.ts';
import type { Shell } from '../completion/render-completion.ts';
import type { ServiceAction } from '../service/service-manager.ts';
import type { PriceRequest, SpendRequest } from '../cost/cost-commands.ts';
import type { SecretRequest } from '../secret/secret-command.ts';
import type { RoleRequest } from '../role/role-command.ts';
import type { ToolRequest } from '../tool/tool-command.ts';
import type { ToolserverRequest } from '../toolserver/toolserver-command.ts';
import type { TerminalRequest } from '../terminals/terminal-command.ts';
import type { TrustRequest } from '../trust/person-command.ts';
import type { UploadRequest } from '../upload/upload-command.ts';

/** The implementations of the commands; each returns the exit code. Loaded on use: `svc --help` needs none of them. */
export const lazyCommands = {
  up: async () => (await import('../commands/up.ts')).up(),
  chat: async (text: string, options: ChatOptions) => (await import('../commands/chat.ts')).chat(text, options),
  speak: async (text: string, options: SpeakOptions) => (await import('../commands/speech.ts')).speak(text, options),
  transcribe: async (file: string, options: TranscribeOptions) =>
    (await import('../commands/speech.ts')).transcribe(file, options),
  pair: async (code: string, options: PairOptions) => (await import('../commands/pair.ts')).pair(code, options),
  trust: async (request: TrustRequest) => (await import('../commands/trust.ts')).trust(request),
  role: async (request: RoleRequest) => (await import('../commands/role.ts')).role(request),
  connector: async (request: ConnectorRequest) => (await import('../commands/connector.ts')).connector(request),
  toolserver: async (request: ToolserverRequest) => (await import('../commands/toolserver.ts')).toolserver(request),
  device: async (request: DeviceRequest) => (await import('../commands/device.ts')).device(request),
  key: async (request: KeyRequest) => (await import('../commands/key.ts')).key(request),
  create: async (request: NewRequest) => (await import('../commands/connector.ts')).newFromTemplate(request),
  send: async (channel: string | null, target: string, text: string, options: SendOptions) =>
    (await import('../commands/send.ts')).send(channel, target, text, options),
  deliveries: async (action: DeliveryAction | null, ids: readonly string[], options: DeliveriesOptions) =>
    (await import('../commands/deliveries.ts')).deliveries(action, ids, options),
  engine: async (action: EngineAction, id: string | null, words: readonly string[], options: EngineOptions) =>
    (await import('../commands/engine.ts')).engine(action, id, words, options),
  tool: async (request: ToolRequest) => (await import('../commands/tool.ts')).tool(request),
  showPersona: async (options: PersonaOptions) => (await import('../commands/persona.ts')).showPersona(options),
  editPersona: async (options: { json?: boolean }) => (await import('../commands/persona.ts')).editPersona(options),
  upload: async (request: UploadRequest) => (await import('../commands/upload.ts')).upload(request),
  announce: async (request: AnnounceRequest) => (await import('../commands/announce.ts')).announce(request),
  auth: async (request: AuthRequest) => (await import('../commands/auth.ts')).auth(request),
  folder: async (request: FolderRequest) => (await import('../commands/folder.ts')).folder(request),
  status: async (options: { json?: boolean }) => (await import('../commands/status.ts')).status(options),
  doctor: async (options: { json?: boolean }) => (await import('../commands/doctor.ts')).doctor(options),
  logs: async (name: string | null, options: LogsOptions) => (await import('../commands/logs.ts')).logs(name, options),
  usage: async (options: UsageOptions) => (await import('../commands/usage.ts')).usage(options),
  spend: async (request: SpendRequest) => (await import('../commands/cost.ts')).spend(request),
  price: async (request: PriceRequest) => (await import('../commands/cost.ts')).price(request),
  sessions: async (options: SessionsOptions) => (await import('../commands/session.ts')).sessions(options),
  session: async (request: SessionRequest) => (await import('../commands/session.ts')).session(request),
  terminal: async (request: TerminalRequest) => (await import('../commands/terminal.ts')).terminal(request),
  events: async (options: EventsOptions) => (await import('../commands/events.ts')).events(options),
  search: async (words: string, options: SearchOptions) => (await import('../commands/search.ts')).search(words, options),
  otel: async (action: OtelAction, options: OtelOptions) => (await import('../commands/otel.ts')).otel(action, options),
  backup: async (command: BackupCommand) => (await import('../commands/backup.ts')).backup(command),
  secret: async (request: SecretRequest) => (await import('../commands/secret.ts')).secret(request),
  vault: async (command: VaultCommand) => (await import('../commands/vault.ts')).vault(command),
  service: async (action: ServiceAction, options: { json?: boolean }) =>
    (await import('../commands/service.ts')).service(action, options),
  update: async (options: UpdateOptions) => (await import('../commands/update.ts')).update(options),
  uninstall: async (options: { data?: boolean; yes?: boolean }) => (await import('../commands/uninstall.ts')).uninstall(options),
  completion: async (shell: Shell, program: Command) => (await import('../commands/completion.ts')).completion(shell, program),
  test: async (filters: readonly string[], options: TestOptions) => (await import('../commands/test.ts')).test(filters, options),
  check: async (options: { fix?: boolean }) => (await import('../commands/check.ts')).check(options),
};

export type Commands = typeof lazyCommands;

/** The same for command definitions, which leave the exit code to the program. */
export type Run = { [Name in keyof Commands]: (...args: Parameters<Commands[Name]>) => Promise<void> };
