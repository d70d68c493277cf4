# gpq trace --demangle: C++ names of kernels for people. What mangled.log holds: scale(float*, float) three times, a template of
# PyTorch's kind twice, a kernel descriptor (.kd), and three names that are none or not whole: they stay.

# As the log has them, unless asked; in words and tables the readable name takes their place.
$ gpq trace -q --by kernel -r -o dispatches,name $DATA/amdlog/mangled.log
DISPATCHES NAME
3 _Z5scalePff
2 _ZN2at6native12_GLOBAL__N_113reduce_kernelILi512ENS1_6SumOpsIfEEEEvT0_Pf
1 Cijk_Ailk_Bljk_SB_MT64x64x8
1 _Z4copyPKfPf.kd
1 _ZN2at6native6legacy18elementwise_kernelILi512ELi1EZNS0_15gpu_kernel_implIZ
1 f

$ gpq trace -q --by kernel --demangle -o dispatches,name $DATA/amdlog/mangled.log; gpq trace -q --by kernel --demangle --top 1 -P -o name $DATA/amdlog/mangled.log
DISPATCHES NAME
         3 scale(float*, float)
         2 void at::native::(anonymous namespace)::reduce_kernel<512, at::native::(anonymous namespace)::SumOps<float> >(at::native::(anonymous namespace)::SumOps<float>, float*)
         1 Cijk_Ailk_Bljk_SB_MT64x64x8
         1 copy(float const*, float*) [clone .kd]
         1 _ZN2at6native6legacy18elementwise_kernelILi512ELi1EZNS0_15gpu_kernel_implIZ
         1 f
NAME="scale(float*, float)"

# The report of everything too.
$ gpq trace -q --demangle $DATA/amdlog/mangled.log | grep -c ' scale(float\*, float)$'; gpq trace -q --no-demangle $DATA/amdlog/mangled.log | grep -c ' _Z5scalePff$'
1
1

# In JSON both stand side by side, and the name is the log's.
$ gpq trace -qJ --demangle $DATA/amdlog/mangled.log | jq -c '.kernels[0, 2] | [.name, .demangled]'; gpq trace -qJ $DATA/amdlog/mangled.log | jq '[.kernels[] | has("demangled")] | any'
["_Z5scalePff","scale(float*, float)"]
["Cijk_Ailk_Bljk_SB_MT64x64x8","Cijk_Ailk_Bljk_SB_MT64x64x8"]
false

# The column can be asked for anywhere; where both are, NAME is the log's.
$ for d in no-demangle demangle; do gpq trace -q --by kernel --top 1 -rn -o name,demangled --$d $DATA/amdlog/mangled.log; done; gpq trace -q --by kernel --top 1 --ndjson -o demangled $DATA/amdlog/mangled.log
_Z5scalePff scale(float*,\x20float)
_Z5scalePff scale(float*,\x20float)
{"record":"kernel","demangled":"scale(float*, float)"}

# Records one by one, in words and in JSON; those of no kernel have none.
# In one thread: what AddressSanitizer watches must not be forked while another thread allocates, as its locks stay locked.
$ gpq trace -q --list --threads 1 --demangle -rn -o time_us,kernel $DATA/amdlog/mangled.log | head -3
80001000 -
80001005 scale(float*,\x20float)
80001010 scale(float*,\x20float)

$ gpq trace -q --list --threads 1 --demangle --ndjson $DATA/amdlog/mangled.log | jq -c '[.time_us, .kernel, .demangled]' | head -1; gpq trace -q --list --threads 1 --demangle --ndjson $DATA/amdlog/mangled.log | jq -c 'select(.kind == "dispatch") | [.kernel, .demangled]' | sort | uniq -c | sort -rn | head -1
[80001000,null,null]
      3 ["_Z5scalePff","scale(float*, float)"]

# Latencies, two logs against each other (B has one kernel that A has not), the sum of parts.
$ gpq trace -q --latency --by kernel --demangle --top 1 -rn -o completed,name $DATA/amdlog/mangled.log
3 scale(float*,\x20float)

$ sed 's/_Z5scalePff/_Z5shiftPff/' $DATA/amdlog/mangled.log >b.log; gpq trace -q --compare --by kernel --demangle -rn -o in,name $DATA/amdlog/mangled.log b.log | grep -v both
A scale(float*,\x20float)
B shift(float*,\x20float)

$ gpq trace --partial $DATA/amdlog/mangled.log >part; grep -c 'scale(' part; gpq merge -q --demangle --by kernel --top 1 -rn -o name part; gpq merge -q --by kernel --top 1 -rn -o name part
0
scale(float*,\x20float)
_Z5scalePff

# A timeline's slices; the log's name is an argument of theirs.
$ gpq trace -q --perfetto - --threads 1 --demangle $DATA/amdlog/mangled.log | jq -c '[.traceEvents[] | select(.cat == "dispatch" or .cat == "launch")][0, 1] | [.name, .args.kernel]'; gpq trace -q --perfetto - $DATA/amdlog/mangled.log | jq -c '[.traceEvents[] | select(.cat == "dispatch")][0] | [.name, .args.kernel]'
["scale(float*, float)",null]
["scale(float*, float)","_Z5scalePff"]
["_Z5scalePff",null]

# What chooses records reads the log's text.
$ gpq trace -q --threads 1 --by kernel --demangle -rn -o name --kernel '^_Z5' $DATA/amdlog/mangled.log; gpq trace -q --threads 1 --by kernel --demangle --kernel 'float' $DATA/amdlog/mangled.log
? 5
scale(float*,\x20float)
gpq: trace: no record is of the processes, kernels, times or text asked for

# What it cannot go with.
$ gpq trace --demangle --no-demangle x; echo $?; gpq merge --demangle --no-demangle part; echo $?; gpq trace --partial --demangle $DATA/amdlog/mangled.log
? 2
gpq: trace: --demangle and --no-demangle exclude each other; choose one
2
gpq: merge: --demangle and --no-demangle exclude each other; choose one
2
gpq: trace: --partial has a format of its own; choose when merging what to show

# Names that were made to stop the demangler stay, and the others are read all the same: two that take hours, one of 300
# characters that would become gigabytes, one with what a terminal must not get.
$ w() { printf ':3:rocvirtual.cpp           :3351: %010d us: [pid:7 tid: 0xa] ShaderName : %b\n' "$1" "$2"; }
> x() { printf "$1%.0s" $(seq $2); }
> big=_Z1f1AIiiE; for s in {0..9} {A..T}; do big+=S_IS${s}_S${s}_E; done
> { w 1 "_ZcvT_I$(x T_I 80)i$(x E 80)Ev"; w 2 "_ZN1acvT_I$(x T_I 80)i$(x E 80)Ev"; w 3 $big; w 4 '_Z4a\033[1v'; w 5 _Z1kv; } >hostile.log
> gpq trace --by kernel --demangle -n -o name hostile.log 2>err | cut -c1-12; grep mangled err
_Z1f1AIiiES_
k()
a\x1b[1()
_ZN1acvT_IT_
_ZcvT_IT_IT_
gpq: trace: kernel names that stay mangled, as the demangler failed or took more than 50 ms: 3
