/** Examples below the `--help` of a command. */
export const HELP_EXAMPLES: Record<string, readonly string[]> = {
  init: ['longshore init my-jobs'],
  dev: ['longshore dev', 'longshore dev --jobs ./jobs --watch ./lib'],
  start: ['longshore start --jobs ./jobs', 'DATABASE_URL=postgres://jobs@db/jobs longshore start'],
  api: ['DATABASE_URL=postgres://jobs@db/jobs longshore api'],
  worker: ['DATABASE_URL_FILE=/run/secrets/database longshore worker --concurrency 16'],
  scheduler: ['DATABASE_URL=postgres://jobs@db/jobs longshore scheduler'],
  'run-due': ['longshore run-due --max 500 --seconds 50'],
  migrate: ['DATABASE_URL=postgres://jobs@db/jobs longshore migrate'],
  doctor: ['longshore doctor', 'longshore doctor --json | jq .checks'],
  enqueue: [
    `longshore enqueue hello '{"name":"Ada"}' --wait`,
    'longshore enqueue report @params.json --delay-ms 60000 --tag monthly',
  ],
  show: ['longshore show 01980000-0000-7000-8000-000000000000', 'longshore show ID --events'],
  logs: ['longshore logs ID --follow'],
  list: ['longshore list --status failed --definition-key report', 'longshore list --json'],
  cancel: ['longshore cancel ID ID'],
  release: ['longshore release ID'],
  stats: ['longshore stats', 'longshore stats --window-minutes 1440'],
  workers: ['longshore workers', 'longshore workers drain ID'],
  schedules: [
    "longshore schedules create report '0 6 * * 1' --timezone Europe/Berlin",
    'longshore schedules next NAME',
  ],
  pause: [
    'longshore pause --definition report --reason "the printer burns"',
    'longshore pause --tenant acme',
  ],
  resume: ['longshore resume --definition report'],
  limits: [
    'longshore limits list',
    'longshore limits set report --concurrency-limit 4 --rate-limit 100/60000',
    'longshore limits tenant acme --weight 3',
  ],
  alerts: [
    'longshore alerts',
    'longshore alerts set dead-letters --definition-key report --threshold 3',
    'longshore alerts set oldest-age --threshold 3600',
  ],
  encryption: ['longshore encryption status', 'longshore encryption reseal'],
  top: ['longshore top', 'longshore top --once'],
  bench: ['longshore bench hello --jobs 1000 --callers 16'],
  config: ['longshore config'],
  completion: ["echo 'source <(longshore completion bash)' >> ~/.bashrc"],
};

export function examplesHelp(name: string): string {
  const examples = HELP_EXAMPLES[name] ?? [];
  if (examples.length === 0) return '';
  return ['', 'Examples:', ...examples.map((line) => `  ${line}`)].join('\n');
}
