# Transcripts -> scores of attacks (the cheap ones of a run in one job), what the theory says of runs, strengths at which
# defenses leak alike.
for number, (job, attacks, setup) in enumerate(attack_jobs()):

    rule:
        name:
            f"attack_{job}" if job in attacks else f"attacks_{number}"
        input:
            code=attack_code(attacks),
            transcripts=seed_files("results/runs/{setup}/{defense}", "transcript"),
            truths=seed_files("results/runs/{setup}/{defense}", "truth"),
        output:
            [f"results/scores/{{setup}}/{{defense}}/{name}.csv" for name in attacks],
        log:
            f"logs/attack/{{setup}}/{{defense}}/{job}.log",
        benchmark:
            f"logs/attack/{{setup}}/{{defense}}/{job}.benchmark.tsv"
        wildcard_constraints:
            setup=setup,
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
            **tried(f"attack/{{setup}}/{{defense}}/{job}"),
            imports=imports(attack_code(attacks)),
            protocol=lambda w: plan.setups[w.setup]["protocol"],
            attacks={name: plan.attacks[name] for name in attacks},
        script:
            "../workflow/scripts/attack.py"


rule theory:
    input:
        code=theory_code,
        transcripts=seed_files("results/runs/{setup}/{defense}", "transcript"),
        truths=seed_files("results/runs/{setup}/{defense}", "truth"),
    output:
        "results/theory/{paper}/{setup}/{defense}.csv",
    log:
        "logs/theory/{paper}/{setup}/{defense}.log",
    benchmark:
        "logs/theory/{paper}/{setup}/{defense}.benchmark.tsv"
    group:
        together
    conda:
        "../envs/cpu.yaml"
    threads: 1
    resources:
        mem_mb=growing(plan.cluster.memory),
        runtime=growing(plan.cluster.minutes),
    params:
        imports=imports(theory_code),
    script:
        "../workflow/scripts/theory.py"


rule match:
    input:
        code=match_code,
        data=lambda w: datasets_of([w.setup]),
        trained=trained,
    output:
        "results/matches/{setup}/{defense}.csv",
    log:
        "logs/match/{setup}/{defense}.log",
    benchmark:
        "logs/match/{setup}/{defense}.benchmark.tsv"
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
        **tried("match/{setup}/{defense}"),
        imports=imports(match_code),
        setup=lambda w: plan.setups[w.setup],
        defense=lambda w: plan.defense(w.setup, w.defense),
        attack=matched_by,
        rule=lambda w: plan.matches[w.setup, w.defense],
        evaluations=plan.evaluations,
        seeds=list(plan.seeds),
    script:
        "../workflow/scripts/match.py"
