/** Examples below the `--help` of a command. */
export const HELP_EXAMPLES: Record<string, readonly string[]> = {
  init: ['longshore init my-jobs'],
  issues: ['longshore issues', 'longshore issues --tenant acme --json'],
  dev: ['longshore dev', 'longshore dev --jobs ./jobs --watch ./lib'],
  start: ['longshore start --jobs ./jobs', 'DATABASE_URL=postgres://jobs@db/jobs longshore start'],
  api: ['DATABASE_URL=postgres://jobs@db/jobs longshore api'],
  worker: ['DATABASE_URL_FILE=/run/secrets/database longshore worker --concurrency 16'],
  scheduler: ['DATABASE_URL=postgres://jobs@db/jobs longshore scheduler'],
  ingest: [
    'longshore ingest --from amqp://127.0.0.1 --queue orders --definition ship',
    'LONGSHORE_BROKERS_FILE=brokers longshore ingest --from rabbit --queue jobs',
    'longshore ingest --from kafka://k1:9092 --topic orders --definition ship',
  ],
  plan: [
    'longshore plan --jobs-per-day 1e9 --seconds 2 --params 2kB --retention 7d',
    'longshore plan --jobs-per-day 10M --webhooks 5% --idempotency --json',
  ],
  shards: ['longshore shards', 'longshore shards --json'],
  'run-due': ['longshore run-due --max 500 --seconds 50'],
  migrate: ['DATABASE_URL=postgres://jobs@db/jobs longshore migrate'],
  doctor: ['longshore doctor', 'longshore doctor --json | jq .checks'],
  enqueue: [
    `longshore enqueue hello '{"name":"Ada"}' --wait`,
    'longshore enqueue report @params.json --delay-ms 60000 --tag monthly',
    'longshore enqueue publish --after ID --after ID',
  ],
  show: ['longshore show 01980000-0000-7000-8000-000000000000', 'longshore show ID --events'],
  tree: ['longshore tree ID', 'longshore tree ID --depth 2'],
  logs: ['longshore logs ID --follow'],
  stream: ['longshore stream ID', 'longshore stream ID > answer.txt'],
  list: [
    "longshore list 'status:failed owner:billing timeout'",
    'longshore list --status failed --definition report',
    'longshore list --view on-call',
  ],
  export: [
    'longshore export status:failed --format csv > failed.csv',
    'longshore export tag:monthly --output jobs.jsonl',
  ],
  views: ["longshore views save on-call 'status:failed owner:billing'", 'longshore views list'],
  cancel: ['longshore cancel ID ID'],
  release: ['longshore release ID'],
  'signal-link': [
    'longshore signal-link ID decision --text "Refund order 7?" --expires 3d',
    `longshore signal-link ID decision --choice 'Yes={"approved":true}'`,
  ],
  import: [
    'longshore import pg-boss --from postgres://app@db/app --dry-run',
    'longshore import bullmq --from redis://cache --queue mail --remove',
  ],
  deploy: ['longshore deploy ./jobs --note "faster reports"', 'longshore deploy ./jobs --canary 5'],
  deployments: ['longshore deployments', 'longshore deployments rollback --reason "it throws"'],
  secrets: [
    'longshore secrets set API_TOKEN --definition report < token.txt',
    'longshore secrets list',
  ],
  replay: ['longshore replay ID --jobs ./jobs', 'longshore replay ID --from-step charge --inspect'],
  definitions: ['longshore definitions', 'longshore definitions report'],
  stats: ['longshore stats', 'longshore stats --window-minutes 1440'],
  series: ['longshore series', 'longshore series report --range 7d'],
  usage: [
    'longshore usage',
    'longshore usage report --by day --from 2026-01-01 --to 2026-01-31',
    'longshore usage --all-tenants --csv > usage.csv',
  ],
  budgets: [
    'longshore budgets',
    'longshore budgets set all-jobs --jobs 100000 --per month',
    'longshore budgets set reports-cpu --cpu-seconds 3600 --definition report',
  ],
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
    'longshore alerts set dead-letters --definition report --threshold 3',
    'longshore alerts set oldest-age --threshold 3600 --severity critical',
    'longshore alerts route on-call --email oncall@example.com',
    'longshore alerts test on-call',
  ],
  sessions: ['longshore sessions list', 'longshore sessions revoke ID'],
  encryption: ['longshore encryption status', 'longshore encryption reseal'],
  top: ['longshore top', 'longshore top --once'],
  bench: ['longshore bench hello --jobs 1000 --callers 16'],
  conformance: [
    'longshore conformance worker -- python3 worker.py',
    'longshore conformance server --url https://jobs.example.com',
  ],
  mcp: [
    'longshore mcp --url https://jobs.example.com',
    'longshore mcp --allow-write retry_job,enqueue_job',
    "longshore mcp --offer 'report.*' --wait-seconds 60",
    'longshore mcp --http 4410',
  ],
  config: ['longshore config'],
  completion: ["echo 'source <(longshore completion bash)' >> ~/.bashrc"],
};

export function examplesHelp(name: string): string {
  const examples = HELP_EXAMPLES[name] ?? [];
  if (examples.length === 0) return '';
  return ['', 'Examples:', ...examples.map((line) => `  ${line}`)].join('\n');
}
