/** Examples below the `--help` of a command. */
export const HELP_EXAMPLES: Record<string, readonly string[]> = {
  init: ['npx longshore init my-jobs'],
  issues: ['npx longshore issues', 'npx longshore issues --tenant acme --json'],
  dev: ['npx longshore dev', 'npx longshore dev --jobs ./jobs --watch ./lib'],
  start: [
    'npx longshore start --jobs ./jobs',
    'DATABASE_URL=postgres://jobs@db/jobs npx longshore start',
  ],
  api: ['DATABASE_URL=postgres://jobs@db/jobs npx longshore api'],
  worker: ['DATABASE_URL_FILE=/run/secrets/database npx longshore worker --concurrency 16'],
  scheduler: ['DATABASE_URL=postgres://jobs@db/jobs npx longshore scheduler'],
  ingest: [
    'npx longshore ingest --from amqp://127.0.0.1 --queue orders --definition ship',
    'LONGSHORE_BROKERS_FILE=brokers npx longshore ingest --from rabbit --queue jobs',
    'npx longshore ingest --from kafka://k1:9092 --topic orders --definition ship',
  ],
  plan: [
    'npx longshore plan --jobs-per-day 1e9 --seconds 2 --params 2kB --retention 7d',
    'npx longshore plan --jobs-per-day 10M --webhooks 5% --idempotency --json',
  ],
  shards: ['npx longshore shards', 'npx longshore shards --json'],
  'run-due': ['npx longshore run-due --max 500 --seconds 50'],
  migrate: ['DATABASE_URL=postgres://jobs@db/jobs npx longshore migrate'],
  doctor: ['npx longshore doctor', 'npx longshore doctor --json | jq .checks'],
  enqueue: [
    `npx longshore enqueue hello '{"name":"Ada"}' --wait`,
    'npx longshore enqueue report @params.json --delay-ms 60000 --tag monthly',
    'npx longshore enqueue publish --after ID --after ID',
  ],
  show: [
    'npx longshore show 01980000-0000-7000-8000-000000000000',
    'npx longshore show ID --events',
  ],
  tree: ['npx longshore tree ID', 'npx longshore tree ID --depth 2'],
  logs: ['npx longshore logs ID --follow'],
  stream: ['npx longshore stream ID', 'npx longshore stream ID > answer.txt'],
  list: [
    "npx longshore list 'status:failed owner:billing timeout'",
    'npx longshore list --status failed --definition report',
    'npx longshore list --view on-call',
  ],
  export: [
    'npx longshore export status:failed --format csv > failed.csv',
    'npx longshore export tag:monthly --output jobs.jsonl',
  ],
  views: [
    "npx longshore views save on-call 'status:failed owner:billing'",
    'npx longshore views list',
  ],
  cancel: ['npx longshore cancel ID ID'],
  release: ['npx longshore release ID'],
  'signal-link': [
    'npx longshore signal-link ID decision --text "Refund order 7?" --expires 3d',
    `npx longshore signal-link ID decision --choice 'Yes={"approved":true}'`,
  ],
  import: [
    'npx longshore import pg-boss --from postgres://app@db/app --dry-run',
    'npx longshore import bullmq --from redis://cache --queue mail --remove',
  ],
  deploy: [
    'npx longshore deploy ./jobs --note "faster reports"',
    'npx longshore deploy ./jobs --canary 5',
  ],
  deployments: [
    'npx longshore deployments',
    'npx longshore deployments rollback --reason "it throws"',
  ],
  secrets: [
    'npx longshore secrets set API_TOKEN --definition report < token.txt',
    'npx longshore secrets list',
  ],
  replay: [
    'npx longshore replay ID --jobs ./jobs',
    'npx longshore replay ID --from-step charge --inspect',
  ],
  definitions: ['npx longshore definitions', 'npx longshore definitions report'],
  stats: ['npx longshore stats', 'npx longshore stats --window-minutes 1440'],
  series: ['npx longshore series', 'npx longshore series report --range 7d'],
  usage: [
    'npx longshore usage',
    'npx longshore usage report --by day --from 2026-01-01 --to 2026-01-31',
    'npx longshore usage --all-tenants --csv > usage.csv',
  ],
  budgets: [
    'npx longshore budgets',
    'npx longshore budgets set all-jobs --jobs 100000 --per month',
    'npx longshore budgets set reports-cpu --cpu-seconds 3600 --definition report',
  ],
  workers: ['npx longshore workers', 'npx longshore workers drain ID'],
  schedules: [
    "npx longshore schedules create report '0 6 * * 1' --timezone Europe/Berlin",
    'npx longshore schedules next NAME',
  ],
  pause: [
    'npx longshore pause --definition report --reason "the printer burns"',
    'npx longshore pause --tenant acme',
  ],
  resume: ['npx longshore resume --definition report'],
  limits: [
    'npx longshore limits list',
    'npx longshore limits set report --concurrency-limit 4 --rate-limit 100/60000',
    'npx longshore limits tenant acme --weight 3',
  ],
  alerts: [
    'npx longshore alerts',
    'npx longshore alerts set dead-letters --definition report --threshold 3',
    'npx longshore alerts set oldest-age --threshold 3600 --severity critical',
    'npx longshore alerts route on-call --email oncall@example.com',
    'npx longshore alerts test on-call',
  ],
  sessions: ['npx longshore sessions list', 'npx longshore sessions revoke ID'],
  encryption: ['npx longshore encryption status', 'npx longshore encryption reseal'],
  top: ['npx longshore top', 'npx longshore top --once'],
  bench: ['npx longshore bench hello --jobs 1000 --callers 16'],
  conformance: [
    'npx longshore conformance worker -- python3 worker.py',
    'npx longshore conformance server --url https://jobs.example.com',
  ],
  mcp: [
    'npx longshore mcp --url https://jobs.example.com',
    'npx longshore mcp --allow-write retry_job,enqueue_job',
    "npx longshore mcp --offer 'report.*' --wait-seconds 60",
    'npx longshore mcp --http 4410',
  ],
  config: ['npx longshore config'],
  completion: ["echo 'source <(longshore completion bash)' >> ~/.bashrc"],
};

export function examplesHelp(name: string): string {
  const examples = HELP_EXAMPLES[name] ?? [];
  if (examples.length === 0) return '';
  return ['', 'Examples:', ...examples.map((line) => `  ${line}`)].join('\n');
}
