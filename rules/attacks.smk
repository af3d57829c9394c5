# Transcripts -> scores of attacks (those on a run in one job, if they are cheap or jobs small), measures of the theory, strengths
# at equal leak, leak of the most vulnerable records.
for rule_name, job, attacks, grain, setup, defense in attack_jobs():

    rule:
        name:
            rule_name
        input:
            code=attack_code(attacks),
            transcripts=run_parts(grain, "transcript"),
            truths=run_parts(grain, "truth"),
        output:
            [
                table(grain, f"results/scores/{{setup}}/{{defense}}/{name}")
                for name in attacks
            ],
        log:
            f"logs/attack/{{setup}}/{{defense}}/{job}{grain.part}.log",
        benchmark:
            f"logs/attack/{{setup}}/{{defense}}/{job}{grain.part}.benchmark.tsv"
        wildcard_constraints:
            setup=setup,
            defense=defense,
        group:
            together
        conda:
            "../envs/gpu.yaml"
        threads: 1
        resources:
            mem_mb=growing(plan.cluster.memory),
            runtime=growing(plan.cluster.minutes),
            gpu=gpu,
        params:
            **tried(f"attack/{{setup}}/{{defense}}/{job}{grain.part}"),
            contents=contents(attack_code(attacks)),
            protocol=lambda w: plan.setups[w.setup]["protocol"],
            seeds=seeds_of,
            attacks=attacks_of(attacks),
        script:
            "../workflow/scripts/attack.py"


# The rule of a single attack also serves what no exhibit shows; shared jobs come before it.
internals.prefer(*(rule_name for rule_name, *_ in attack_jobs()))


for grain in plan.grains:

    rule:
        name:
            f"theory{grain.suffix}"
        input:
            code=theory_code,
            transcripts=run_parts(grain, "transcript"),
            truths=run_parts(grain, "truth"),
        output:
            table(grain, "results/theory/{paper}/{setup}/{defense}"),
        log:
            f"logs/theory/{{paper}}/{{setup}}/{{defense}}{grain.part}.log",
        benchmark:
            f"logs/theory/{{paper}}/{{setup}}/{{defense}}{grain.part}.benchmark.tsv"
        wildcard_constraints:
            setup=setups_of(grain),
        group:
            together
        conda:
            "../envs/cpu.yaml"
        threads: 1
        resources:
            mem_mb=growing(plan.cluster.memory),
            runtime=growing(plan.cluster.minutes),
        params:
            contents=contents(theory_code),
            seeds=seeds_of,
        script:
            "../workflow/scripts/theory.py"

    rule:
        name:
            f"match{grain.suffix}"
        input:
            code=match_code,
            data=lambda w: datasets_of([w.setup]),
            trained=trained,
        output:
            table(grain, "results/matches/{setup}/{defense}"),
        log:
            f"logs/match/{{setup}}/{{defense}}{grain.part}.log",
        benchmark:
            f"logs/match/{{setup}}/{{defense}}{grain.part}.benchmark.tsv"
        wildcard_constraints:
            setup=setups_of(grain),
        group:
            together
        conda:
            "../envs/gpu.yaml"
        threads: 1
        resources:
            mem_mb=growing(plan.cluster.memory),
            runtime=growing(plan.cluster.minutes * plan.evaluations),
            gpu=gpu,
        params:
            **tried(f"match/{{setup}}/{{defense}}{grain.part}"),
            contents=contents(match_code),
            setup=lambda w: plan.setups[w.setup],
            defense=lambda w: plan.defense(w.setup, w.defense),
            attack=matched_by,
            rule=lambda w: plan.matches[w.setup, w.defense],
            evaluations=plan.evaluations,
            seeds=seeds_of,
        script:
            "../workflow/scripts/match.py"


# The records that attacks find in all seeds of a run: one job for all seeds, whatever the job granularity of the run.
rule vulnerable:
    input:
        code=vulnerable_code,
        transcripts=seed_files("results/runs/{setup}/{defense}", "transcript"),
        truths=seed_files("results/runs/{setup}/{defense}", "truth"),
    output:
        "results/vulnerable/{setup}/{defense}.csv",
    log:
        "logs/vulnerable/{setup}/{defense}.log",
    benchmark:
        "logs/vulnerable/{setup}/{defense}.benchmark.tsv"
    group:
        together
    conda:
        "../envs/gpu.yaml"
    threads: 1
    resources:
        mem_mb=growing(plan.cluster.memory),
        runtime=growing(plan.cluster.minutes),
    params:
        contents=contents(vulnerable_code),
        protocol=lambda w: plan.setups[w.setup]["protocol"],
        attacks=lambda w: plan.on_watched(w.setup, w.defense),
        seeds=list(plan.seeds),
    script:
        "../workflow/scripts/vulnerable.py"
