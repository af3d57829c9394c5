# Setup -> what features alone predict of the audited rows, for all seeds.
rule prior:
    input:
        code=prior_code,
        data=lambda w: datasets_of([w.setup]),
    output:
        "results/priors/{setup}.safetensors",
    log:
        "logs/prior/{setup}.log",
    benchmark:
        "logs/prior/{setup}.benchmark.tsv"
    group:
        together
    conda:
        "../envs/gpu.yaml"
    threads: 1
    resources:
        mem_mb=growing(plan.cluster.memory),
        runtime=growing(plan.cluster.minutes),
    params:
        contents=contents(prior_code),
        setup=lambda w: plan.setups[w.setup],
        seeds=list(plan.seeds),
    script:
        "../workflow/scripts/prior.py"


# Setup under a defense -> transcripts, one job for all settings of a sweep, and for all seeds unless these would be long.
for grain in plan.grains:

    rule:
        name:
            f"run{grain.suffix}"
        input:
            code=run_code,
            data=lambda w: datasets_of([w.setup]),
            trained=trained,
            prior=prior_of,
        output:
            transcripts=passing(grain, run_parts(grain, "transcript")),
            truths=run_parts(grain, "truth"),
            learned=run_parts(grain, "learned"),
            utility=table(grain, "results/runs/{setup}/{defense}/utility"),
        log:
            f"logs/run/{{setup}}/{{defense}}{grain.part}.log",
        benchmark:
            f"logs/run/{{setup}}/{{defense}}{grain.part}.benchmark.tsv"
        wildcard_constraints:
            setup=setups_of(grain),
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
            **tried(f"run/{{setup}}/{{defense}}{grain.part}"),
            contents=contents(run_code),
            setup=lambda w: plan.setups[w.setup],
            defense=lambda w: plan.defense(w.setup, w.defense),
            seeds=seeds_of,
        script:
            "../workflow/scripts/run.py"


# Time of a training step under each defense of the exhibits that show times: one job, so that all share a machine and its load.
rule times:
    input:
        code=times_code,
        data=lambda w: datasets_of([w.setup]),
    output:
        "results/runs/{setup}/times.csv",
    log:
        "logs/times/{setup}.log",
    benchmark:
        "logs/times/{setup}.benchmark.tsv"
    group:
        together
    conda:
        "../envs/gpu.yaml"
    threads: 1
    resources:
        mem_mb=growing(plan.cluster.memory),
        runtime=growing(plan.cluster.minutes),
    params:
        contents=contents(times_code),
        setup=lambda w: plan.setups[w.setup],
        defenses=lambda w: plan.defenses_to_time(w.setup),
        seeds=list(plan.seeds),
    script:
        "../workflow/scripts/times.py"


# The parts of a table from jobs of one seed -> the table, as a job of all seeds writes it.
if any(grain.one_seed for grain in plan.grains):

    rule join:
        input:
            code=script_of("join"),
            parts=[f"results/{{table}}.seed{seed}.csv" for seed in plan.seeds],
        output:
            "results/{table}.csv",
        wildcard_constraints:
            table=joined_tables(),
        localrule: True
        conda:
            "../envs/cpu.yaml"
        threads: 1
        params:
            contents=contents(script_of("join")),
        script:
            "../workflow/scripts/join.py"
