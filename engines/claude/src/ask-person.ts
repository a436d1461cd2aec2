import { askPermission, whyDenied } from '@svc/engine-kit/ask-permission.ts';
import type { EngineRequest } from '@svc/engine-kit/engine.ts';
import type { Permission } from './claude-messages.ts';
import { decideTool, readingToolNames } from './tool-permission.ts';

type Input = Record<string, unknown>;
type Asked = Pick<EngineRequest, 'asks' | 'ask'> & Parameters<typeof decideTool>[0];

/** The SDK's own tool for asking the person. */
export const questionTool = 'AskUserQuestion';

/** Tools that only read, or keep the model's own list; the tool calls of an agent are asked about separately. */
const harmless = new Set([...readingToolNames, 'TodoWrite', 'TaskCreate', 'TaskGet', 'TaskUpdate', 'TaskList', 'Agent', 'Task']);

/** Otherwise the program, or a rule in the owner's settings, would allow some of their calls without asking. */
export const askedTools: readonly string[] = [
  ...harmless,
  'Artifact',
  'Bash',
  'BashOutput',
  'Edit',
  'KillShell',
  'LSP',
  'ListAgents',
  'ListMcpResourcesTool',
  'MultiEdit',
  'NotebookEdit',
  'ReadMcpResourceDirTool',
  'ReadMcpResourceTool',
  'ReportFindings',
  'SendMessage',
  'Skill',
  'TaskOutput',
  'TaskStop',
  'WebFetch',
  'WebSearch',
  'Write',
  'mcp__*',
];

/** Decides a call by the tool policy, and asks the person where required. */
export async function permitTool(request: Asked, tool: string, input: Input): Promise<Permission> {
  if (request.ask !== undefined && tool === questionTool) return askQuestions(request.ask, input);
  const decided = decideTool(request, tool, input);
  if (decided.behavior === 'deny' || request.ask === undefined || !isAskedAbout(request, tool)) return decided;
  const permission = await askPermission(request.ask, describeCall(tool, decided.updatedInput));
  return permission.allowed ? decided : { behavior: 'deny', message: permission.why };
}

function isAskedAbout({ asks, toolServers }: Asked, tool: string): boolean {
  if (asks === 'always' || !tool.startsWith('mcp__')) return asks === 'always' || !harmless.has(tool);
  // A name may match two servers.
  const servers = toolServers.filter(({ name }) => tool.startsWith(`mcp__${name}__`));
  return servers.length === 0 || servers.some(({ safe }) => !safe);
}

/** The person sees everything that will be done. */
function describeCall(tool: string, input: Input): { what: string; detail: string } {
  const { command, description: _description, timeout: _timeout, ...more } = input;
  if (tool === 'Bash' && typeof command === 'string' && Object.keys(more).length === 0)
    return { what: 'May the assistant run this command?', detail: command };
  const { file_path: file, content, ...rest } = input;
  if (tool === 'Write' && typeof file === 'string' && typeof content === 'string' && Object.keys(rest).length === 0)
    return { what: 'May the assistant write this file?', detail: `${file}\n\n${content}` };
  return { what: `May the assistant use ${tool}?`, detail: JSON.stringify(input, null, 2) };
}

/** The tool's input, as far as it is used here. */
type AskedQuestion = { question: string; options: { label: string; description?: string }[] };

/** Asks the model's questions one after the other; the model gets the first one that remains unanswered as its result. */
async function askQuestions(ask: NonNullable<EngineRequest['ask']>, input: Input): Promise<Permission> {
  const { questions } = input;
  if (!Array.isArray(questions) || !questions.every(isQuestion))
    return { behavior: 'deny', message: 'The questions are invalid.' };
  const answers: [string, string][] = [];
  for (const { question, options } of questions) {
    const answer = await ask({
      text: questionText(question, options),
      options: options.map(({ label }, at) => ({ id: idOf(at), label })),
    });
    const chosen = options.find((_option, at) => idOf(at) === answer.option);
    if (chosen === undefined) return { behavior: 'deny', message: whyDenied(answer) };
    answers.push([question, chosen.label]);
  }
  return { behavior: 'allow', updatedInput: { ...input, answers: Object.fromEntries(answers) } };
}

const idOf = (at: number): string => `answer-${at + 1}`;

function questionText(question: string, options: AskedQuestion['options']): string {
  const about = options.filter(({ description }) => (description ?? '') !== '');
  return about.length === 0
    ? question
    : `${question}\n\n${about.map(({ label, description }) => `${label}: ${description}`).join('\n')}`;
}

const isQuestion = (value: unknown): value is AskedQuestion => {
  const { question, options } = (value ?? {}) as Partial<AskedQuestion>;
  return typeof question === 'string' && Array.isArray(options) && options.every((option) => typeof option?.label === 'string');
};
