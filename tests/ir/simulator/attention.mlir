// SPDX-License-Identifier: MIT
// Causal attention of one head of 64 (values: 128), as a warp-specialized kernel computes it: a producer that loads; a warpgroup that multiplies a block of 16
// keys with the queries while the block before is multiplied with the values, from registers. Blocks come last first, so that rows begin with blocks in which
// they have no key. mistakes.test changes it.
// RUN: tilegym-opt --check-wgmma %s | FileCheck %s
// RUN: %if ptxas %{ tilegym-opt assemble %s arch=sm_90a | FileCheck %s --check-prefix=CUBIN %}
// RUN: tilegym-opt simulate %s grid=2 seeds=4 bf16[8192]=small bf16[8192]=small bf16[16384]=small bf16[16384] map=bf16:0:64x128:64x64:swizzle=128 map=bf16:1:64x128:64x16:swizzle=128 map=bf16:2:128x128:64x16:swizzle=128 map=bf16:3:128x128:64x64:swizzle=128 f32=0.0015 | FileCheck %s --check-prefix=SIM

// CHECK: ptx.wgmma_commit
// CUBIN: attention: assembled for sm_90a, {{[0-9]+}} registers, 0 bytes spilled
// SIM: arg3 bf16 [3, 5, 7, 2, {{.*}} 0.110839844, 1.78125, 0.0893554688, 0.36328125, 0.208007812, -0.6640625, -0.95703125, 0.107910156, 0.245117188, -0.71484375,

llvm.func @attention(%q: !llvm.ptr<1>, %k: !llvm.ptr<1>, %v: !llvm.ptr<1>, %o: !llvm.ptr<1>, %mq: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant},
    %mk: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant},
    %mv: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant},
    %mo: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}, %scale: f32)
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 256>, nvvm.minctasm = 1 : i32, tilegym.shared_bytes = 36992 : i64} {
  %c5 = arith.constant 5 : i32
  %c2 = arith.constant 2 : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %c4 = arith.constant 4 : i32
  %c8 = arith.constant 8 : i32
  %c2048 = arith.constant 2048 : i32
  %c16 = arith.constant 16 : i32
  %c8192 = arith.constant 8192 : i32
  %c4096 = arith.constant 4096 : i32
  %c127 = arith.constant 127 : i32
  %c3 = arith.constant 3 : i32
  %c16383 = arith.constant 16383 : i32
  %c2_i64 = arith.constant 2 : i64
  %c4_i64 = arith.constant 4 : i64
  %c6_i64 = arith.constant 6 : i64
  %c9 = arith.constant 9 : i32
  %c7 = arith.constant 7 : i32
  %c128 = arith.constant 128 : i32
  %c32 = arith.constant 32 : i32
  %c96 = arith.constant 96 : i32
  %true = arith.constant true
  %false = arith.constant false
  %zero = arith.constant 0.0 : f32
  %ninf = arith.constant 0xFF800000 : f32
  %poison = llvm.mlir.poison : f32
  %pair = llvm.mlir.poison : vector<2xf32>
  %smem = ptx.shared_base : !llvm.ptr<3>
  %keys = llvm.getelementptr %smem[8192] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8 %values = llvm.getelementptr %smem[12288] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %outs = llvm.getelementptr %smem[20480] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8 %fullK = llvm.getelementptr %smem[36864] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %emptyK = llvm.getelementptr %smem[36880] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8 %fullV = llvm.getelementptr %smem[36896] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %emptyV = llvm.getelementptr %smem[36912] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8 %fullQ = llvm.getelementptr %smem[36928] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %thread = ptx.thread_id %lane = ptx.lane_id %tile = ptx.block_id %v1 = arith.shrui %thread, %c5 : i32
  %warp = ptx.shuffle <index> %v1, %c0 : i32
  %group = arith.shrui %warp, %c2 : i32 %first = arith.cmpi eq, %thread, %c0 : i32 %rows = arith.muli %tile, %c64 : i32 %v2 = arith.addi %tile, %c1 : i32
  %blocks = arith.muli %v2, %c4 : i32
  ptx.mbarrier_init %fullQ, %c1 if %first
  scf.for %s = %c0 to %c2 step %c1 : i32 {
    %v3 = arith.muli %s, %c8 : i32 %v4 = llvm.getelementptr %fullK[%v3] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    ptx.mbarrier_init %v4, %c1 if %first
    %v5 = arith.muli %s, %c8 : i32 %v6 = llvm.getelementptr %emptyK[%v5] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    ptx.mbarrier_init %v6, %c1 if %first
    %v7 = arith.muli %s, %c8 : i32 %v8 = llvm.getelementptr %fullV[%v7] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    ptx.mbarrier_init %v8, %c1 if %first
    %v9 = arith.muli %s, %c8 : i32 %v10 = llvm.getelementptr %emptyV[%v9] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    ptx.mbarrier_init %v10, %c1 if %first
  }
  ptx.fence_mbarrier_init
  ptx.barrier
  %producer = arith.cmpi eq, %group, %c0 : i32 %last = arith.subi %blocks, %c1 : i32
  scf.if %producer {
    %loads = arith.cmpi eq, %warp, %c0 : i32
    scf.if %loads {
      %one = ptx.elect
      scf.if %one {
        %v11 = arith.andi %c0, %c1 : i32 %v12 = arith.shrui %c0, %c1 : i32 %v13 = arith.andi %v12, %c1 : i32 %v14 = arith.muli %v11, %c8 : i32
        %v15 = llvm.getelementptr %emptyK[%v14] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8 %v16 = arith.xori %v13, %c1 : i32
        scf.while : () -> () {
          %v17 = ptx.mbarrier_try_wait %v15, %v16 : i32
          %v18 = arith.xori %v17, %true : i1
          scf.condition(%v18)
        } do {
          scf.yield
        }
        %v19 = arith.muli %v11, %c8 : i32 %v20 = llvm.getelementptr %fullK[%v19] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
        ptx.mbarrier_arrive_expect_tx %v20, %c2048 : !llvm.ptr<3>
        %v21 = arith.muli %v11, %c2048 : i32 %v22 = llvm.getelementptr %keys[%v21] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8 %v23 = arith.subi %last, %c0 : i32
        %v24 = arith.muli %v23, %c16 : i32
        ptx.tensor_load %v22, %mk[%c0, %v24] signal %v20 : !llvm.ptr<3>
        ptx.mbarrier_arrive_expect_tx %fullQ, %c8192 : !llvm.ptr<3>
        ptx.tensor_load %smem, %mq[%c0, %rows] signal %fullQ : !llvm.ptr<3>
        scf.for %j = %c1 to %blocks step %c1 : i32 {
          %v25 = arith.andi %j, %c1 : i32 %v26 = arith.shrui %j, %c1 : i32 %v27 = arith.andi %v26, %c1 : i32 %v28 = arith.muli %v25, %c8 : i32
          %v29 = llvm.getelementptr %emptyK[%v28] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8 %v30 = arith.xori %v27, %c1 : i32
          scf.while : () -> () {
            %v31 = ptx.mbarrier_try_wait %v29, %v30 : i32
            %v32 = arith.xori %v31, %true : i1
            scf.condition(%v32)
          } do {
            scf.yield
          }
          %v33 = arith.muli %v25, %c8 : i32 %v34 = llvm.getelementptr %fullK[%v33] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
          ptx.mbarrier_arrive_expect_tx %v34, %c2048 : !llvm.ptr<3>
          %v35 = arith.muli %v25, %c2048 : i32 %v36 = llvm.getelementptr %keys[%v35] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8 %v37 = arith.subi %last, %j : i32
          %v38 = arith.muli %v37, %c16 : i32
          ptx.tensor_load %v36, %mk[%c0, %v38] signal %v34 : !llvm.ptr<3>
          %v39 = arith.subi %j, %c1 : i32 %v40 = arith.andi %v39, %c1 : i32 %v41 = arith.shrui %v39, %c1 : i32 %v42 = arith.andi %v41, %c1 : i32
          %v43 = arith.muli %v40, %c8 : i32 %v44 = llvm.getelementptr %emptyV[%v43] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8 %v45 = arith.xori %v42, %c1 : i32
          scf.while : () -> () {
            %v46 = ptx.mbarrier_try_wait %v44, %v45 : i32
            %v47 = arith.xori %v46, %true : i1
            scf.condition(%v47)
          } do {
            scf.yield
          }
          %v48 = arith.muli %v40, %c8 : i32 %v49 = llvm.getelementptr %fullV[%v48] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
          ptx.mbarrier_arrive_expect_tx %v49, %c4096 : !llvm.ptr<3>
          %v50 = arith.muli %v40, %c4096 : i32 %v51 = llvm.getelementptr %values[%v50] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8 %v52 = arith.subi %last, %v39 : i32
          %v53 = arith.muli %v52, %c16 : i32
          ptx.tensor_load %v51, %mv[%c0, %v53] signal %v49 : !llvm.ptr<3>
          %v54 = llvm.getelementptr %v51[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
          ptx.tensor_load %v54, %mv[%c64, %v53] signal %v49 : !llvm.ptr<3>
        }
        %v55 = arith.andi %last, %c1 : i32 %v56 = arith.shrui %last, %c1 : i32 %v57 = arith.andi %v56, %c1 : i32 %v58 = arith.muli %v55, %c8 : i32
        %v59 = llvm.getelementptr %emptyV[%v58] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8 %v60 = arith.xori %v57, %c1 : i32
        scf.while : () -> () {
          %v61 = ptx.mbarrier_try_wait %v59, %v60 : i32
          %v62 = arith.xori %v61, %true : i1
          scf.condition(%v62)
        } do {
          scf.yield
        }
        %v63 = arith.muli %v55, %c8 : i32 %v64 = llvm.getelementptr %fullV[%v63] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
        ptx.mbarrier_arrive_expect_tx %v64, %c4096 : !llvm.ptr<3>
        %v65 = arith.muli %v55, %c4096 : i32 %v66 = llvm.getelementptr %values[%v65] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8 %v67 = arith.subi %last, %last : i32
        %v68 = arith.muli %v67, %c16 : i32
        ptx.tensor_load %v66, %mv[%c0, %v68] signal %v64 : !llvm.ptr<3>
        %v69 = llvm.getelementptr %v66[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
        ptx.tensor_load %v69, %mv[%c64, %v68] signal %v64 : !llvm.ptr<3>
      }
    }
  } else {
    %inGroup = arith.andi %thread, %c127 : i32 %lead = arith.cmpi eq, %inGroup, %c0 : i32
    %templateK = arith.constant 0x4000004000010000 : i64 // rows of 128 bytes
    %templateV = arith.constant 0x4000004000800000 : i64 // keys of 128 bytes, the other 64 columns 2048 bytes on
    %v70 = arith.andi %warp, %c3 : i32 %warpRow = arith.muli %v70, %c16 : i32 %v71 = arith.addi %rows, %warpRow : i32 %v72 = arith.shrui %lane, %c2 : i32
    %v73 = arith.addi %v71, %v72 : i32 %v74 = arith.andi %lane, %c3 : i32 %v75 = arith.muli %v74, %c2 : i32
    // Keys up to the row itself; in columns of this thread.
    %v76 = arith.addi %v73, %c1 : i32 %limit0 = arith.subi %v76, %v75 : i32 %limit1 = arith.addi %limit0, %c8 : i32 %v77 = llvm.ptrtoint %smem : !llvm.ptr<3> to i32
    %v78 = arith.shrui %v77, %c4 : i32 %v79 = arith.andi %v78, %c16383 : i32 %v80 = arith.extui %v79 : i32 to i64 %dq = arith.ori %v80, %templateK : i64
    scf.while : () -> () {
      %v82 = ptx.mbarrier_try_wait %fullQ, %c0 : i32
      %v83 = arith.xori %v82, %true : i1
      scf.condition(%v83)
    } do {
      scf.yield
    }
    %v84 = arith.muli %c0, %c8 : i32 %v85 = llvm.getelementptr %fullK[%v84] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    scf.while : () -> () {
      %v86 = ptx.mbarrier_try_wait %v85, %c0 : i32
      %v87 = arith.xori %v86, %true : i1
      scf.condition(%v87)
    } do {
      scf.yield
    }
    ptx.wgmma_fence
    %v88 = llvm.ptrtoint %keys : !llvm.ptr<3> to i32 %v89 = arith.shrui %v88, %c4 : i32 %v90 = arith.andi %v89, %c16383 : i32 %v91 = arith.extui %v90 : i32 to i64
    %v92 = arith.ori %v91, %templateK : i64
    %s93:8 = ptx.wgmma n 16 <bf16> (%dq) * <bf16> (%v92) + <f32> (%poison, %poison, %poison, %poison, %poison, %poison, %poison, %poison) scale %false
    %v95 = arith.addi %dq, %c2_i64 : i64 %v96 = arith.addi %v92, %c2_i64 : i64
    %s94:8 = ptx.wgmma n 16 <bf16> (%v95) * <bf16> (%v96) + <f32> (%s93#0, %s93#1, %s93#2, %s93#3, %s93#4, %s93#5, %s93#6, %s93#7)
    %v98 = arith.addi %dq, %c4_i64 : i64 %v99 = arith.addi %v92, %c4_i64 : i64
    %s97:8 = ptx.wgmma n 16 <bf16> (%v98) * <bf16> (%v99) + <f32> (%s94#0, %s94#1, %s94#2, %s94#3, %s94#4, %s94#5, %s94#6, %s94#7)
    %v101 = arith.addi %dq, %c6_i64 : i64 %v102 = arith.addi %v92, %c6_i64 : i64
    %s100:8 = ptx.wgmma n 16 <bf16> (%v101) * <bf16> (%v102) + <f32> (%s97#0, %s97#1, %s97#2, %s97#3, %s97#4, %s97#5, %s97#6, %s97#7)
    ptx.wgmma_commit
    %w103:8 = ptx.wgmma_wait 0 (%s100#0, %s100#1, %s100#2, %s100#3, %s100#4, %s100#5, %s100#6, %s100#7)
        : f32, f32, f32, f32, f32, f32, f32, f32
    ptx.mbarrier_arrive %emptyK if %lead : !llvm.ptr<3> // releases the first K
    %v104 = arith.muli %last, %c16 : i32 %v105 = arith.subi %limit0, %v104 : i32 %v106 = arith.subi %limit1, %v104 : i32
    %v107 = arith.cmpi slt, %c0, %v105 : i32
    %v108 = arith.select %v107, %w103#0, %ninf : f32
    %v109 = arith.cmpi slt, %c1, %v105 : i32
    %v110 = arith.select %v109, %w103#1, %ninf : f32
    %v111 = arith.cmpi slt, %c0, %v106 : i32
    %v112 = arith.select %v111, %w103#2, %ninf : f32
    %v113 = arith.cmpi slt, %c1, %v106 : i32
    %v114 = arith.select %v113, %w103#3, %ninf : f32
    %v115 = arith.cmpi slt, %c8, %v105 : i32
    %v116 = arith.select %v115, %w103#4, %ninf : f32
    %v117 = arith.cmpi slt, %c9, %v105 : i32
    %v118 = arith.select %v117, %w103#5, %ninf : f32
    %v119 = arith.cmpi slt, %c8, %v106 : i32
    %v120 = arith.select %v119, %w103#6, %ninf : f32
    %v121 = arith.cmpi slt, %c9, %v106 : i32
    %v122 = arith.select %v121, %w103#7, %ninf : f32
    %v123 = arith.maxnumf %v108, %v110 : f32 %v124 = arith.maxnumf %v123, %v116 : f32 %v125 = arith.maxnumf %v124, %v118 : f32
    %v126 = ptx.shuffle <xor> %v125, %c1 : f32
    %v127 = arith.maxnumf %v125, %v126 : f32
    %v128 = ptx.shuffle <xor> %v127, %c2 : f32
    %v129 = arith.maxnumf %v127, %v128 : f32
    %v130 = arith.cmpf oeq, %v129, %ninf : f32 // a row without a key so far
    %v131 = arith.select %v130, %zero, %v129 : f32
    %v132 = arith.mulf %v131, %scale : f32 %v133 = arith.negf %v132 : f32 %v134 = arith.maxnumf %v112, %v114 : f32 %v135 = arith.maxnumf %v134, %v120 : f32
    %v136 = arith.maxnumf %v135, %v122 : f32
    %v137 = ptx.shuffle <xor> %v136, %c1 : f32
    %v138 = arith.maxnumf %v136, %v137 : f32
    %v139 = ptx.shuffle <xor> %v138, %c2 : f32
    %v140 = arith.maxnumf %v138, %v139 : f32
    %v141 = arith.cmpf oeq, %v140, %ninf : f32 // a row without a key so far
    %v142 = arith.select %v141, %zero, %v140 : f32
    %v143 = arith.mulf %v142, %scale : f32 %v144 = arith.negf %v143 : f32 %v145 = math.fma %v108, %scale, %v133 : f32 %v146 = ptx.approx <ex2> %v145
    %v147 = math.fma %v110, %scale, %v133 : f32 %v148 = ptx.approx <ex2> %v147 %v149 = arith.addf %v146, %v148 : f32 %v150 = math.fma %v112, %scale, %v144 : f32
    %v151 = ptx.approx <ex2> %v150 %v152 = math.fma %v114, %scale, %v144 : f32 %v153 = ptx.approx <ex2> %v152 %v154 = arith.addf %v151, %v153 : f32
    %v155 = math.fma %v116, %scale, %v133 : f32 %v156 = ptx.approx <ex2> %v155 %v157 = arith.addf %v149, %v156 : f32 %v158 = math.fma %v118, %scale, %v133 : f32
    %v159 = ptx.approx <ex2> %v158 %v160 = arith.addf %v157, %v159 : f32 %v161 = math.fma %v120, %scale, %v144 : f32 %v162 = ptx.approx <ex2> %v161
    %v163 = arith.addf %v154, %v162 : f32 %v164 = math.fma %v122, %scale, %v144 : f32 %v165 = ptx.approx <ex2> %v164 %v166 = arith.addf %v163, %v165 : f32
    %v167 = llvm.insertelement %v146, %pair[%c0 : i32] : vector<2xf32> %v168 = llvm.insertelement %v148, %v167[%c1 : i32] : vector<2xf32>
    %v169 = arith.truncf %v168 : vector<2xf32> to vector<2xbf16> %v170 = llvm.bitcast %v169 : vector<2xbf16> to i32
    %v171 = llvm.insertelement %v151, %pair[%c0 : i32] : vector<2xf32> %v172 = llvm.insertelement %v153, %v171[%c1 : i32] : vector<2xf32>
    %v173 = arith.truncf %v172 : vector<2xf32> to vector<2xbf16> %v174 = llvm.bitcast %v173 : vector<2xbf16> to i32
    %v175 = llvm.insertelement %v156, %pair[%c0 : i32] : vector<2xf32> %v176 = llvm.insertelement %v159, %v175[%c1 : i32] : vector<2xf32>
    %v177 = arith.truncf %v176 : vector<2xf32> to vector<2xbf16> %v178 = llvm.bitcast %v177 : vector<2xbf16> to i32
    %v179 = llvm.insertelement %v162, %pair[%c0 : i32] : vector<2xf32> %v180 = llvm.insertelement %v165, %v179[%c1 : i32] : vector<2xf32>
    %v181 = arith.truncf %v180 : vector<2xf32> to vector<2xbf16> %v182 = llvm.bitcast %v181 : vector<2xbf16> to i32
    %end:72 = scf.for %j = %c1 to %blocks step %c1
        iter_args(%i0 = %poison, %i1 = %poison, %i2 = %poison, %i3 = %poison, %i4 = %poison, %i5 = %poison, %i6 = %poison, %i7 = %poison, %i8 = %poison, %i9 = %poison, %i10 = %poison, %i11 = %poison, %i12 = %poison, %i13 = %poison, %i14 = %poison, %i15 = %poison, %i16 = %poison, %i17 = %poison, %i18 = %poison, %i19 = %poison, %i20 = %poison, %i21 = %poison, %i22 = %poison, %i23 = %poison, %i24 = %poison, %i25 = %poison, %i26 = %poison, %i27 = %poison, %i28 = %poison, %i29 = %poison, %i30 = %poison, %i31 = %poison, %i32 = %poison, %i33 = %poison, %i34 = %poison, %i35 = %poison, %i36 = %poison, %i37 = %poison, %i38 = %poison, %i39 = %poison, %i40 = %poison, %i41 = %poison, %i42 = %poison, %i43 = %poison, %i44 = %poison, %i45 = %poison, %i46 = %poison, %i47 = %poison, %i48 = %poison, %i49 = %poison, %i50 = %poison, %i51 = %poison, %i52 = %poison, %i53 = %poison, %i54 = %poison, %i55 = %poison, %i56 = %poison, %i57 = %poison, %i58 = %poison, %i59 = %poison, %i60 = %poison, %i61 = %poison, %i62 = %poison, %i63 = %poison, %m0 = %v129, %m1 = %v140, %l0 = %v160, %l1 = %v166, %p0 = %v170, %p1 = %v174, %p2 = %v178, %p3 = %v182)
        -> (f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, i32, i32, i32, i32) : i32 {
      %v183 = arith.andi %j, %c1 : i32 %v184 = arith.shrui %j, %c1 : i32 %v185 = arith.andi %v184, %c1 : i32 %v186 = arith.subi %j, %c1 : i32
      %v187 = arith.andi %v186, %c1 : i32 %v188 = arith.shrui %v186, %c1 : i32 %v189 = arith.andi %v188, %c1 : i32 %v190 = arith.muli %v183, %c8 : i32
      %v191 = llvm.getelementptr %fullK[%v190] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      scf.while : () -> () {
        %v192 = ptx.mbarrier_try_wait %v191, %v185 : i32
        %v193 = arith.xori %v192, %true : i1
        scf.condition(%v193)
      } do {
        scf.yield
      }
      %v194 = arith.muli %v187, %c8 : i32 %v195 = llvm.getelementptr %fullV[%v194] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      scf.while : () -> () {
        %v196 = ptx.mbarrier_try_wait %v195, %v189 : i32
        %v197 = arith.xori %v196, %true : i1
        scf.condition(%v197)
      } do {
        scf.yield
      }
      %more = arith.cmpi ne, %j, %c1 : i32
      ptx.wgmma_fence
      %v198 = arith.muli %v183, %c2048 : i32 %v199 = llvm.getelementptr %keys[%v198] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      %v200 = llvm.ptrtoint %v199 : !llvm.ptr<3> to i32 %v201 = arith.shrui %v200, %c4 : i32 %v202 = arith.andi %v201, %c16383 : i32
      %v203 = arith.extui %v202 : i32 to i64 %v204 = arith.ori %v203, %templateK : i64
      %s205:8 = ptx.wgmma n 16 <bf16> (%dq) * <bf16> (%v204) + <f32> (%poison, %poison, %poison, %poison, %poison, %poison, %poison, %poison) scale %false
      %v207 = arith.addi %dq, %c2_i64 : i64 %v208 = arith.addi %v204, %c2_i64 : i64
      %s206:8 = ptx.wgmma n 16 <bf16> (%v207) * <bf16> (%v208) + <f32> (%s205#0, %s205#1, %s205#2, %s205#3, %s205#4, %s205#5, %s205#6, %s205#7)
      %v210 = arith.addi %dq, %c4_i64 : i64 %v211 = arith.addi %v204, %c4_i64 : i64
      %s209:8 = ptx.wgmma n 16 <bf16> (%v210) * <bf16> (%v211) + <f32> (%s206#0, %s206#1, %s206#2, %s206#3, %s206#4, %s206#5, %s206#6, %s206#7)
      %v213 = arith.addi %dq, %c6_i64 : i64 %v214 = arith.addi %v204, %c6_i64 : i64
      %s212:8 = ptx.wgmma n 16 <bf16> (%v213) * <bf16> (%v214) + <f32> (%s209#0, %s209#1, %s209#2, %s209#3, %s209#4, %s209#5, %s209#6, %s209#7)
      ptx.wgmma_commit
      %f215:68 = ptx.wgmma_fence (%p0, %p1, %p2, %p3, %i0, %i1, %i2, %i3, %i4, %i5, %i6, %i7, %i8, %i9, %i10, %i11, %i12, %i13, %i14, %i15, %i16, %i17, %i18, %i19, %i20, %i21, %i22, %i23, %i24, %i25, %i26, %i27, %i28, %i29, %i30, %i31, %i32, %i33, %i34, %i35, %i36, %i37, %i38, %i39, %i40, %i41, %i42, %i43, %i44, %i45, %i46, %i47, %i48, %i49, %i50, %i51, %i52, %i53, %i54, %i55, %i56, %i57, %i58, %i59, %i60, %i61, %i62, %i63)
          : i32, i32, i32, i32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32
      %v216 = arith.muli %v187, %c4096 : i32 %v217 = llvm.getelementptr %values[%v216] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      %v218 = llvm.ptrtoint %v217 : !llvm.ptr<3> to i32 %v219 = arith.shrui %v218, %c4 : i32 %v220 = arith.andi %v219, %c16383 : i32
      %v221 = arith.extui %v220 : i32 to i64 %v222 = arith.ori %v221, %templateV : i64
      %o223:64 = ptx.wgmma n 128 <bf16> (%f215#0, %f215#1, %f215#2, %f215#3) * <bf16> (%v222)
          + <f32> (%f215#4, %f215#5, %f215#6, %f215#7, %f215#8, %f215#9, %f215#10, %f215#11, %f215#12, %f215#13, %f215#14, %f215#15, %f215#16, %f215#17, %f215#18, %f215#19, %f215#20, %f215#21, %f215#22, %f215#23, %f215#24, %f215#25, %f215#26, %f215#27, %f215#28, %f215#29, %f215#30, %f215#31, %f215#32, %f215#33, %f215#34, %f215#35, %f215#36, %f215#37, %f215#38, %f215#39, %f215#40, %f215#41, %f215#42, %f215#43, %f215#44, %f215#45, %f215#46, %f215#47, %f215#48, %f215#49, %f215#50, %f215#51, %f215#52, %f215#53, %f215#54, %f215#55, %f215#56, %f215#57, %f215#58, %f215#59, %f215#60, %f215#61, %f215#62, %f215#63, %f215#64, %f215#65, %f215#66, %f215#67) scale %more transpose_b
      ptx.wgmma_commit
      %v224 = arith.muli %v183, %c8 : i32 %ek = llvm.getelementptr %emptyK[%v224] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8 %v225 = arith.muli %v187, %c8 : i32
      %ev = llvm.getelementptr %emptyV[%v225] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      %w226:8 = ptx.wgmma_wait 1 (%s212#0, %s212#1, %s212#2, %s212#3, %s212#4, %s212#5, %s212#6, %s212#7)
          : f32, f32, f32, f32, f32, f32, f32, f32 // K is read
      ptx.mbarrier_arrive %ek if %lead : !llvm.ptr<3> // releases K
      %v227 = arith.subi %last, %j : i32 %v228 = arith.muli %v227, %c16 : i32 %v229 = arith.subi %limit0, %v228 : i32 %v230 = arith.subi %limit1, %v228 : i32
      %v231 = arith.cmpi slt, %c0, %v229 : i32
      %v232 = arith.select %v231, %w226#0, %ninf : f32
      %v233 = arith.cmpi slt, %c1, %v229 : i32
      %v234 = arith.select %v233, %w226#1, %ninf : f32
      %v235 = arith.cmpi slt, %c0, %v230 : i32
      %v236 = arith.select %v235, %w226#2, %ninf : f32
      %v237 = arith.cmpi slt, %c1, %v230 : i32
      %v238 = arith.select %v237, %w226#3, %ninf : f32
      %v239 = arith.cmpi slt, %c8, %v229 : i32
      %v240 = arith.select %v239, %w226#4, %ninf : f32
      %v241 = arith.cmpi slt, %c9, %v229 : i32
      %v242 = arith.select %v241, %w226#5, %ninf : f32
      %v243 = arith.cmpi slt, %c8, %v230 : i32
      %v244 = arith.select %v243, %w226#6, %ninf : f32
      %v245 = arith.cmpi slt, %c9, %v230 : i32
      %v246 = arith.select %v245, %w226#7, %ninf : f32
      %v247 = arith.maxnumf %v232, %v234 : f32 %v248 = arith.maxnumf %v247, %v240 : f32 %v249 = arith.maxnumf %v248, %v242 : f32 %v250 = arith.maxnumf %v249, %m0 : f32
      %v251 = ptx.shuffle <xor> %v250, %c1 : f32
      %v252 = arith.maxnumf %v250, %v251 : f32
      %v253 = ptx.shuffle <xor> %v252, %c2 : f32
      %v254 = arith.maxnumf %v252, %v253 : f32
      %v255 = arith.cmpf oeq, %v254, %ninf : f32 // a row without a key so far
      %v256 = arith.select %v255, %zero, %v254 : f32
      %v257 = arith.mulf %v256, %scale : f32 %v258 = arith.negf %v257 : f32 %v259 = math.fma %m0, %scale, %v258 : f32 %v260 = ptx.approx <ex2> %v259
      %v261 = arith.maxnumf %v236, %v238 : f32 %v262 = arith.maxnumf %v261, %v244 : f32 %v263 = arith.maxnumf %v262, %v246 : f32 %v264 = arith.maxnumf %v263, %m1 : f32
      %v265 = ptx.shuffle <xor> %v264, %c1 : f32
      %v266 = arith.maxnumf %v264, %v265 : f32
      %v267 = ptx.shuffle <xor> %v266, %c2 : f32
      %v268 = arith.maxnumf %v266, %v267 : f32
      %v269 = arith.cmpf oeq, %v268, %ninf : f32 // a row without a key so far
      %v270 = arith.select %v269, %zero, %v268 : f32
      %v271 = arith.mulf %v270, %scale : f32 %v272 = arith.negf %v271 : f32 %v273 = math.fma %m1, %scale, %v272 : f32 %v274 = ptx.approx <ex2> %v273
      %v275 = arith.mulf %l0, %v260 : f32 %v276 = arith.mulf %l1, %v274 : f32 %v277 = math.fma %v232, %scale, %v258 : f32 %e0 = ptx.approx <ex2> %v277
      %v278 = arith.addf %v275, %e0 : f32 %v279 = math.fma %v234, %scale, %v258 : f32 %e1 = ptx.approx <ex2> %v279 %v280 = arith.addf %v278, %e1 : f32
      %v281 = math.fma %v236, %scale, %v272 : f32 %e2 = ptx.approx <ex2> %v281 %v282 = arith.addf %v276, %e2 : f32 %v283 = math.fma %v238, %scale, %v272 : f32
      %e3 = ptx.approx <ex2> %v283 %v284 = arith.addf %v282, %e3 : f32 %v285 = math.fma %v240, %scale, %v258 : f32 %e4 = ptx.approx <ex2> %v285
      %v286 = arith.addf %v280, %e4 : f32 %v287 = math.fma %v242, %scale, %v258 : f32 %e5 = ptx.approx <ex2> %v287 %v288 = arith.addf %v286, %e5 : f32
      %v289 = math.fma %v244, %scale, %v272 : f32 %e6 = ptx.approx <ex2> %v289 %v290 = arith.addf %v284, %e6 : f32 %v291 = math.fma %v246, %scale, %v272 : f32
      %e7 = ptx.approx <ex2> %v291 %v292 = arith.addf %v290, %e7 : f32
      %kept:72 = ptx.wgmma_wait 0 (%o223#0, %o223#1, %o223#2, %o223#3, %o223#4, %o223#5, %o223#6, %o223#7, %o223#8, %o223#9, %o223#10, %o223#11, %o223#12, %o223#13, %o223#14, %o223#15, %o223#16, %o223#17, %o223#18, %o223#19, %o223#20, %o223#21, %o223#22, %o223#23, %o223#24, %o223#25, %o223#26, %o223#27, %o223#28, %o223#29, %o223#30, %o223#31, %o223#32, %o223#33, %o223#34, %o223#35, %o223#36, %o223#37, %o223#38, %o223#39, %o223#40, %o223#41, %o223#42, %o223#43, %o223#44, %o223#45, %o223#46, %o223#47, %o223#48, %o223#49, %o223#50, %o223#51, %o223#52, %o223#53, %o223#54, %o223#55, %o223#56, %o223#57, %o223#58, %o223#59, %o223#60, %o223#61, %o223#62, %o223#63, %e0, %e1, %e2, %e3, %e4, %e5, %e6, %e7) : f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32 // V is read
      %v293 = llvm.insertelement %kept#64, %pair[%c0 : i32] : vector<2xf32> %v294 = llvm.insertelement %kept#65, %v293[%c1 : i32] : vector<2xf32>
      %v295 = arith.truncf %v294 : vector<2xf32> to vector<2xbf16> %v296 = llvm.bitcast %v295 : vector<2xbf16> to i32
      %v297 = llvm.insertelement %kept#66, %pair[%c0 : i32] : vector<2xf32> %v298 = llvm.insertelement %kept#67, %v297[%c1 : i32] : vector<2xf32>
      %v299 = arith.truncf %v298 : vector<2xf32> to vector<2xbf16> %v300 = llvm.bitcast %v299 : vector<2xbf16> to i32
      %v301 = llvm.insertelement %kept#68, %pair[%c0 : i32] : vector<2xf32> %v302 = llvm.insertelement %kept#69, %v301[%c1 : i32] : vector<2xf32>
      %v303 = arith.truncf %v302 : vector<2xf32> to vector<2xbf16> %v304 = llvm.bitcast %v303 : vector<2xbf16> to i32
      %v305 = llvm.insertelement %kept#70, %pair[%c0 : i32] : vector<2xf32> %v306 = llvm.insertelement %kept#71, %v305[%c1 : i32] : vector<2xf32>
      %v307 = arith.truncf %v306 : vector<2xf32> to vector<2xbf16>
      %v308 = llvm.bitcast %v307 : vector<2xbf16> to i32 // the words of P
      ptx.mbarrier_arrive %ev if %lead : !llvm.ptr<3> // releases V
      %v309 = arith.mulf %kept#0, %v260 : f32 %v310 = arith.mulf %kept#1, %v260 : f32 %v311 = arith.mulf %kept#2, %v274 : f32 %v312 = arith.mulf %kept#3, %v274 : f32
      %v313 = arith.mulf %kept#4, %v260 : f32 %v314 = arith.mulf %kept#5, %v260 : f32 %v315 = arith.mulf %kept#6, %v274 : f32 %v316 = arith.mulf %kept#7, %v274 : f32
      %v317 = arith.mulf %kept#8, %v260 : f32 %v318 = arith.mulf %kept#9, %v260 : f32 %v319 = arith.mulf %kept#10, %v274 : f32 %v320 = arith.mulf %kept#11, %v274 : f32
      %v321 = arith.mulf %kept#12, %v260 : f32 %v322 = arith.mulf %kept#13, %v260 : f32 %v323 = arith.mulf %kept#14, %v274 : f32
      %v324 = arith.mulf %kept#15, %v274 : f32 %v325 = arith.mulf %kept#16, %v260 : f32 %v326 = arith.mulf %kept#17, %v260 : f32
      %v327 = arith.mulf %kept#18, %v274 : f32 %v328 = arith.mulf %kept#19, %v274 : f32 %v329 = arith.mulf %kept#20, %v260 : f32
      %v330 = arith.mulf %kept#21, %v260 : f32 %v331 = arith.mulf %kept#22, %v274 : f32 %v332 = arith.mulf %kept#23, %v274 : f32
      %v333 = arith.mulf %kept#24, %v260 : f32 %v334 = arith.mulf %kept#25, %v260 : f32 %v335 = arith.mulf %kept#26, %v274 : f32
      %v336 = arith.mulf %kept#27, %v274 : f32 %v337 = arith.mulf %kept#28, %v260 : f32 %v338 = arith.mulf %kept#29, %v260 : f32
      %v339 = arith.mulf %kept#30, %v274 : f32 %v340 = arith.mulf %kept#31, %v274 : f32 %v341 = arith.mulf %kept#32, %v260 : f32
      %v342 = arith.mulf %kept#33, %v260 : f32 %v343 = arith.mulf %kept#34, %v274 : f32 %v344 = arith.mulf %kept#35, %v274 : f32
      %v345 = arith.mulf %kept#36, %v260 : f32 %v346 = arith.mulf %kept#37, %v260 : f32 %v347 = arith.mulf %kept#38, %v274 : f32
      %v348 = arith.mulf %kept#39, %v274 : f32 %v349 = arith.mulf %kept#40, %v260 : f32 %v350 = arith.mulf %kept#41, %v260 : f32
      %v351 = arith.mulf %kept#42, %v274 : f32 %v352 = arith.mulf %kept#43, %v274 : f32 %v353 = arith.mulf %kept#44, %v260 : f32
      %v354 = arith.mulf %kept#45, %v260 : f32 %v355 = arith.mulf %kept#46, %v274 : f32 %v356 = arith.mulf %kept#47, %v274 : f32
      %v357 = arith.mulf %kept#48, %v260 : f32 %v358 = arith.mulf %kept#49, %v260 : f32 %v359 = arith.mulf %kept#50, %v274 : f32
      %v360 = arith.mulf %kept#51, %v274 : f32 %v361 = arith.mulf %kept#52, %v260 : f32 %v362 = arith.mulf %kept#53, %v260 : f32
      %v363 = arith.mulf %kept#54, %v274 : f32 %v364 = arith.mulf %kept#55, %v274 : f32 %v365 = arith.mulf %kept#56, %v260 : f32
      %v366 = arith.mulf %kept#57, %v260 : f32 %v367 = arith.mulf %kept#58, %v274 : f32 %v368 = arith.mulf %kept#59, %v274 : f32
      %v369 = arith.mulf %kept#60, %v260 : f32 %v370 = arith.mulf %kept#61, %v260 : f32 %v371 = arith.mulf %kept#62, %v274 : f32
      %v372 = arith.mulf %kept#63, %v274 : f32
      scf.yield %v309, %v310, %v311, %v312, %v313, %v314, %v315, %v316, %v317, %v318, %v319, %v320, %v321, %v322, %v323, %v324, %v325, %v326, %v327, %v328, %v329, %v330, %v331, %v332, %v333, %v334, %v335, %v336, %v337, %v338, %v339, %v340, %v341, %v342, %v343, %v344, %v345, %v346, %v347, %v348, %v349, %v350, %v351, %v352, %v353, %v354, %v355, %v356, %v357, %v358, %v359, %v360, %v361, %v362, %v363, %v364, %v365, %v366, %v367, %v368, %v369, %v370, %v371, %v372, %v254, %v268, %v288, %v292, %v296, %v300, %v304, %v308
          : f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, i32, i32, i32, i32
    }
    %v373 = arith.andi %last, %c1 : i32 %v374 = arith.shrui %last, %c1 : i32 %v375 = arith.andi %v374, %c1 : i32 %v376 = arith.muli %v373, %c8 : i32
    %v377 = llvm.getelementptr %fullV[%v376] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    scf.while : () -> () {
      %v378 = ptx.mbarrier_try_wait %v377, %v375 : i32
      %v379 = arith.xori %v378, %true : i1
      scf.condition(%v379)
    } do {
      scf.yield
    }
    %f380:68 = ptx.wgmma_fence (%end#68, %end#69, %end#70, %end#71, %end#0, %end#1, %end#2, %end#3, %end#4, %end#5, %end#6, %end#7, %end#8, %end#9, %end#10, %end#11, %end#12, %end#13, %end#14, %end#15, %end#16, %end#17, %end#18, %end#19, %end#20, %end#21, %end#22, %end#23, %end#24, %end#25, %end#26, %end#27, %end#28, %end#29, %end#30, %end#31, %end#32, %end#33, %end#34, %end#35, %end#36, %end#37, %end#38, %end#39, %end#40, %end#41, %end#42, %end#43, %end#44, %end#45, %end#46, %end#47, %end#48, %end#49, %end#50, %end#51, %end#52, %end#53, %end#54, %end#55, %end#56, %end#57, %end#58, %end#59, %end#60, %end#61, %end#62, %end#63)
        : i32, i32, i32, i32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32
    %v381 = arith.cmpi ne, %blocks, %c1 : i32 %v382 = arith.muli %v373, %c4096 : i32 %v383 = llvm.getelementptr %values[%v382] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %v384 = llvm.ptrtoint %v383 : !llvm.ptr<3> to i32 %v385 = arith.shrui %v384, %c4 : i32 %v386 = arith.andi %v385, %c16383 : i32
    %v387 = arith.extui %v386 : i32 to i64 %v388 = arith.ori %v387, %templateV : i64
    %o389:64 = ptx.wgmma n 128 <bf16> (%f380#0, %f380#1, %f380#2, %f380#3) * <bf16> (%v388)
        + <f32> (%f380#4, %f380#5, %f380#6, %f380#7, %f380#8, %f380#9, %f380#10, %f380#11, %f380#12, %f380#13, %f380#14, %f380#15, %f380#16, %f380#17, %f380#18, %f380#19, %f380#20, %f380#21, %f380#22, %f380#23, %f380#24, %f380#25, %f380#26, %f380#27, %f380#28, %f380#29, %f380#30, %f380#31, %f380#32, %f380#33, %f380#34, %f380#35, %f380#36, %f380#37, %f380#38, %f380#39, %f380#40, %f380#41, %f380#42, %f380#43, %f380#44, %f380#45, %f380#46, %f380#47, %f380#48, %f380#49, %f380#50, %f380#51, %f380#52, %f380#53, %f380#54, %f380#55, %f380#56, %f380#57, %f380#58, %f380#59, %f380#60, %f380#61, %f380#62, %f380#63, %f380#64, %f380#65, %f380#66, %f380#67) scale %v381 transpose_b
    ptx.wgmma_commit
    %w390:64 = ptx.wgmma_wait 0 (%o389#0, %o389#1, %o389#2, %o389#3, %o389#4, %o389#5, %o389#6, %o389#7, %o389#8, %o389#9, %o389#10, %o389#11, %o389#12, %o389#13, %o389#14, %o389#15, %o389#16, %o389#17, %o389#18, %o389#19, %o389#20, %o389#21, %o389#22, %o389#23, %o389#24, %o389#25, %o389#26, %o389#27, %o389#28, %o389#29, %o389#30, %o389#31, %o389#32, %o389#33, %o389#34, %o389#35, %o389#36, %o389#37, %o389#38, %o389#39, %o389#40, %o389#41, %o389#42, %o389#43, %o389#44, %o389#45, %o389#46, %o389#47, %o389#48, %o389#49, %o389#50, %o389#51, %o389#52, %o389#53, %o389#54, %o389#55, %o389#56, %o389#57, %o389#58, %o389#59, %o389#60, %o389#61, %o389#62, %o389#63)
        : f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32
    %v391 = ptx.shuffle <xor> %end#66, %c1 : f32
    %v392 = arith.addf %end#66, %v391 : f32
    %v393 = ptx.shuffle <xor> %v392, %c2 : f32
    %v394 = arith.addf %v392, %v393 : f32 %v395 = ptx.approx <rcp> %v394
    %v396 = ptx.shuffle <xor> %end#67, %c1 : f32
    %v397 = arith.addf %end#67, %v396 : f32
    %v398 = ptx.shuffle <xor> %v397, %c2 : f32
    %v399 = arith.addf %v397, %v398 : f32 %v400 = ptx.approx <rcp> %v399 %v401 = arith.mulf %w390#0, %v395 : f32 %v402 = arith.mulf %w390#1, %v395 : f32
    %v403 = arith.mulf %w390#2, %v400 : f32 %v404 = arith.mulf %w390#3, %v400 : f32 %v405 = arith.mulf %w390#4, %v395 : f32 %v406 = arith.mulf %w390#5, %v395 : f32
    %v407 = arith.mulf %w390#6, %v400 : f32 %v408 = arith.mulf %w390#7, %v400 : f32 %v409 = arith.mulf %w390#8, %v395 : f32 %v410 = arith.mulf %w390#9, %v395 : f32
    %v411 = arith.mulf %w390#10, %v400 : f32 %v412 = arith.mulf %w390#11, %v400 : f32 %v413 = arith.mulf %w390#12, %v395 : f32 %v414 = arith.mulf %w390#13, %v395 : f32
    %v415 = arith.mulf %w390#14, %v400 : f32 %v416 = arith.mulf %w390#15, %v400 : f32 %v417 = arith.mulf %w390#16, %v395 : f32 %v418 = arith.mulf %w390#17, %v395 : f32
    %v419 = arith.mulf %w390#18, %v400 : f32 %v420 = arith.mulf %w390#19, %v400 : f32 %v421 = arith.mulf %w390#20, %v395 : f32 %v422 = arith.mulf %w390#21, %v395 : f32
    %v423 = arith.mulf %w390#22, %v400 : f32 %v424 = arith.mulf %w390#23, %v400 : f32 %v425 = arith.mulf %w390#24, %v395 : f32 %v426 = arith.mulf %w390#25, %v395 : f32
    %v427 = arith.mulf %w390#26, %v400 : f32 %v428 = arith.mulf %w390#27, %v400 : f32 %v429 = arith.mulf %w390#28, %v395 : f32 %v430 = arith.mulf %w390#29, %v395 : f32
    %v431 = arith.mulf %w390#30, %v400 : f32 %v432 = arith.mulf %w390#31, %v400 : f32 %v433 = arith.mulf %w390#32, %v395 : f32 %v434 = arith.mulf %w390#33, %v395 : f32
    %v435 = arith.mulf %w390#34, %v400 : f32 %v436 = arith.mulf %w390#35, %v400 : f32 %v437 = arith.mulf %w390#36, %v395 : f32 %v438 = arith.mulf %w390#37, %v395 : f32
    %v439 = arith.mulf %w390#38, %v400 : f32 %v440 = arith.mulf %w390#39, %v400 : f32 %v441 = arith.mulf %w390#40, %v395 : f32 %v442 = arith.mulf %w390#41, %v395 : f32
    %v443 = arith.mulf %w390#42, %v400 : f32 %v444 = arith.mulf %w390#43, %v400 : f32 %v445 = arith.mulf %w390#44, %v395 : f32 %v446 = arith.mulf %w390#45, %v395 : f32
    %v447 = arith.mulf %w390#46, %v400 : f32 %v448 = arith.mulf %w390#47, %v400 : f32 %v449 = arith.mulf %w390#48, %v395 : f32 %v450 = arith.mulf %w390#49, %v395 : f32
    %v451 = arith.mulf %w390#50, %v400 : f32 %v452 = arith.mulf %w390#51, %v400 : f32 %v453 = arith.mulf %w390#52, %v395 : f32 %v454 = arith.mulf %w390#53, %v395 : f32
    %v455 = arith.mulf %w390#54, %v400 : f32 %v456 = arith.mulf %w390#55, %v400 : f32 %v457 = arith.mulf %w390#56, %v395 : f32 %v458 = arith.mulf %w390#57, %v395 : f32
    %v459 = arith.mulf %w390#58, %v400 : f32 %v460 = arith.mulf %w390#59, %v400 : f32 %v461 = arith.mulf %w390#60, %v395 : f32 %v462 = arith.mulf %w390#61, %v395 : f32
    %v463 = arith.mulf %w390#62, %v400 : f32 %v464 = arith.mulf %w390#63, %v400 : f32
    // Two halves of 64 columns, each with rows of 128 bytes, swizzled.
    %v465 = arith.andi %lane, %c7 : i32 %v466 = arith.andi %lane, %c8 : i32 %v467 = arith.addi %v465, %v466 : i32 %v468 = arith.addi %v467, %warpRow : i32
    %v469 = arith.shrui %lane, %c4 : i32 %v470 = arith.xori %v469, %v465 : i32 %v471 = arith.muli %v470, %c16 : i32 %v472 = arith.muli %v468, %c128 : i32
    %v473 = llvm.getelementptr %outs[%v472] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8 %v474 = llvm.getelementptr %v473[%v471] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %v475 = llvm.insertelement %v401, %pair[%c0 : i32] : vector<2xf32> %v476 = llvm.insertelement %v402, %v475[%c1 : i32] : vector<2xf32>
    %v477 = arith.truncf %v476 : vector<2xf32> to vector<2xbf16> %v478 = llvm.bitcast %v477 : vector<2xbf16> to i32
    %v479 = llvm.insertelement %v403, %pair[%c0 : i32] : vector<2xf32> %v480 = llvm.insertelement %v404, %v479[%c1 : i32] : vector<2xf32>
    %v481 = arith.truncf %v480 : vector<2xf32> to vector<2xbf16> %v482 = llvm.bitcast %v481 : vector<2xbf16> to i32
    %v483 = llvm.insertelement %v405, %pair[%c0 : i32] : vector<2xf32> %v484 = llvm.insertelement %v406, %v483[%c1 : i32] : vector<2xf32>
    %v485 = arith.truncf %v484 : vector<2xf32> to vector<2xbf16> %v486 = llvm.bitcast %v485 : vector<2xbf16> to i32
    %v487 = llvm.insertelement %v407, %pair[%c0 : i32] : vector<2xf32> %v488 = llvm.insertelement %v408, %v487[%c1 : i32] : vector<2xf32>
    %v489 = arith.truncf %v488 : vector<2xf32> to vector<2xbf16> %v490 = llvm.bitcast %v489 : vector<2xbf16> to i32
    ptx.store_matrix %v478, %v482, %v486, %v490 to %v474
    %v491 = arith.xori %v471, %c32 : i32 %v492 = llvm.getelementptr %v473[%v491] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %v493 = llvm.insertelement %v409, %pair[%c0 : i32] : vector<2xf32> %v494 = llvm.insertelement %v410, %v493[%c1 : i32] : vector<2xf32>
    %v495 = arith.truncf %v494 : vector<2xf32> to vector<2xbf16> %v496 = llvm.bitcast %v495 : vector<2xbf16> to i32
    %v497 = llvm.insertelement %v411, %pair[%c0 : i32] : vector<2xf32> %v498 = llvm.insertelement %v412, %v497[%c1 : i32] : vector<2xf32>
    %v499 = arith.truncf %v498 : vector<2xf32> to vector<2xbf16> %v500 = llvm.bitcast %v499 : vector<2xbf16> to i32
    %v501 = llvm.insertelement %v413, %pair[%c0 : i32] : vector<2xf32> %v502 = llvm.insertelement %v414, %v501[%c1 : i32] : vector<2xf32>
    %v503 = arith.truncf %v502 : vector<2xf32> to vector<2xbf16> %v504 = llvm.bitcast %v503 : vector<2xbf16> to i32
    %v505 = llvm.insertelement %v415, %pair[%c0 : i32] : vector<2xf32> %v506 = llvm.insertelement %v416, %v505[%c1 : i32] : vector<2xf32>
    %v507 = arith.truncf %v506 : vector<2xf32> to vector<2xbf16> %v508 = llvm.bitcast %v507 : vector<2xbf16> to i32
    ptx.store_matrix %v496, %v500, %v504, %v508 to %v492
    %v509 = arith.xori %v471, %c64 : i32 %v510 = llvm.getelementptr %v473[%v509] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %v511 = llvm.insertelement %v417, %pair[%c0 : i32] : vector<2xf32> %v512 = llvm.insertelement %v418, %v511[%c1 : i32] : vector<2xf32>
    %v513 = arith.truncf %v512 : vector<2xf32> to vector<2xbf16> %v514 = llvm.bitcast %v513 : vector<2xbf16> to i32
    %v515 = llvm.insertelement %v419, %pair[%c0 : i32] : vector<2xf32> %v516 = llvm.insertelement %v420, %v515[%c1 : i32] : vector<2xf32>
    %v517 = arith.truncf %v516 : vector<2xf32> to vector<2xbf16> %v518 = llvm.bitcast %v517 : vector<2xbf16> to i32
    %v519 = llvm.insertelement %v421, %pair[%c0 : i32] : vector<2xf32> %v520 = llvm.insertelement %v422, %v519[%c1 : i32] : vector<2xf32>
    %v521 = arith.truncf %v520 : vector<2xf32> to vector<2xbf16> %v522 = llvm.bitcast %v521 : vector<2xbf16> to i32
    %v523 = llvm.insertelement %v423, %pair[%c0 : i32] : vector<2xf32> %v524 = llvm.insertelement %v424, %v523[%c1 : i32] : vector<2xf32>
    %v525 = arith.truncf %v524 : vector<2xf32> to vector<2xbf16> %v526 = llvm.bitcast %v525 : vector<2xbf16> to i32
    ptx.store_matrix %v514, %v518, %v522, %v526 to %v510
    %v527 = arith.xori %v471, %c96 : i32 %v528 = llvm.getelementptr %v473[%v527] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %v529 = llvm.insertelement %v425, %pair[%c0 : i32] : vector<2xf32> %v530 = llvm.insertelement %v426, %v529[%c1 : i32] : vector<2xf32>
    %v531 = arith.truncf %v530 : vector<2xf32> to vector<2xbf16> %v532 = llvm.bitcast %v531 : vector<2xbf16> to i32
    %v533 = llvm.insertelement %v427, %pair[%c0 : i32] : vector<2xf32> %v534 = llvm.insertelement %v428, %v533[%c1 : i32] : vector<2xf32>
    %v535 = arith.truncf %v534 : vector<2xf32> to vector<2xbf16> %v536 = llvm.bitcast %v535 : vector<2xbf16> to i32
    %v537 = llvm.insertelement %v429, %pair[%c0 : i32] : vector<2xf32> %v538 = llvm.insertelement %v430, %v537[%c1 : i32] : vector<2xf32>
    %v539 = arith.truncf %v538 : vector<2xf32> to vector<2xbf16> %v540 = llvm.bitcast %v539 : vector<2xbf16> to i32
    %v541 = llvm.insertelement %v431, %pair[%c0 : i32] : vector<2xf32> %v542 = llvm.insertelement %v432, %v541[%c1 : i32] : vector<2xf32>
    %v543 = arith.truncf %v542 : vector<2xf32> to vector<2xbf16> %v544 = llvm.bitcast %v543 : vector<2xbf16> to i32
    ptx.store_matrix %v532, %v536, %v540, %v544 to %v528
    %v545 = llvm.getelementptr %v473[%v471] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8 %v546 = llvm.getelementptr %v545[8192] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %v547 = llvm.insertelement %v433, %pair[%c0 : i32] : vector<2xf32> %v548 = llvm.insertelement %v434, %v547[%c1 : i32] : vector<2xf32>
    %v549 = arith.truncf %v548 : vector<2xf32> to vector<2xbf16> %v550 = llvm.bitcast %v549 : vector<2xbf16> to i32
    %v551 = llvm.insertelement %v435, %pair[%c0 : i32] : vector<2xf32> %v552 = llvm.insertelement %v436, %v551[%c1 : i32] : vector<2xf32>
    %v553 = arith.truncf %v552 : vector<2xf32> to vector<2xbf16> %v554 = llvm.bitcast %v553 : vector<2xbf16> to i32
    %v555 = llvm.insertelement %v437, %pair[%c0 : i32] : vector<2xf32> %v556 = llvm.insertelement %v438, %v555[%c1 : i32] : vector<2xf32>
    %v557 = arith.truncf %v556 : vector<2xf32> to vector<2xbf16> %v558 = llvm.bitcast %v557 : vector<2xbf16> to i32
    %v559 = llvm.insertelement %v439, %pair[%c0 : i32] : vector<2xf32> %v560 = llvm.insertelement %v440, %v559[%c1 : i32] : vector<2xf32>
    %v561 = arith.truncf %v560 : vector<2xf32> to vector<2xbf16> %v562 = llvm.bitcast %v561 : vector<2xbf16> to i32
    ptx.store_matrix %v550, %v554, %v558, %v562 to %v546
    %v563 = arith.xori %v471, %c32 : i32 %v564 = llvm.getelementptr %v473[%v563] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %v565 = llvm.getelementptr %v564[8192] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8 %v566 = llvm.insertelement %v441, %pair[%c0 : i32] : vector<2xf32>
    %v567 = llvm.insertelement %v442, %v566[%c1 : i32] : vector<2xf32> %v568 = arith.truncf %v567 : vector<2xf32> to vector<2xbf16>
    %v569 = llvm.bitcast %v568 : vector<2xbf16> to i32 %v570 = llvm.insertelement %v443, %pair[%c0 : i32] : vector<2xf32>
    %v571 = llvm.insertelement %v444, %v570[%c1 : i32] : vector<2xf32> %v572 = arith.truncf %v571 : vector<2xf32> to vector<2xbf16>
    %v573 = llvm.bitcast %v572 : vector<2xbf16> to i32 %v574 = llvm.insertelement %v445, %pair[%c0 : i32] : vector<2xf32>
    %v575 = llvm.insertelement %v446, %v574[%c1 : i32] : vector<2xf32> %v576 = arith.truncf %v575 : vector<2xf32> to vector<2xbf16>
    %v577 = llvm.bitcast %v576 : vector<2xbf16> to i32 %v578 = llvm.insertelement %v447, %pair[%c0 : i32] : vector<2xf32>
    %v579 = llvm.insertelement %v448, %v578[%c1 : i32] : vector<2xf32> %v580 = arith.truncf %v579 : vector<2xf32> to vector<2xbf16>
    %v581 = llvm.bitcast %v580 : vector<2xbf16> to i32
    ptx.store_matrix %v569, %v573, %v577, %v581 to %v565
    %v582 = arith.xori %v471, %c64 : i32 %v583 = llvm.getelementptr %v473[%v582] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %v584 = llvm.getelementptr %v583[8192] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8 %v585 = llvm.insertelement %v449, %pair[%c0 : i32] : vector<2xf32>
    %v586 = llvm.insertelement %v450, %v585[%c1 : i32] : vector<2xf32> %v587 = arith.truncf %v586 : vector<2xf32> to vector<2xbf16>
    %v588 = llvm.bitcast %v587 : vector<2xbf16> to i32 %v589 = llvm.insertelement %v451, %pair[%c0 : i32] : vector<2xf32>
    %v590 = llvm.insertelement %v452, %v589[%c1 : i32] : vector<2xf32> %v591 = arith.truncf %v590 : vector<2xf32> to vector<2xbf16>
    %v592 = llvm.bitcast %v591 : vector<2xbf16> to i32 %v593 = llvm.insertelement %v453, %pair[%c0 : i32] : vector<2xf32>
    %v594 = llvm.insertelement %v454, %v593[%c1 : i32] : vector<2xf32> %v595 = arith.truncf %v594 : vector<2xf32> to vector<2xbf16>
    %v596 = llvm.bitcast %v595 : vector<2xbf16> to i32 %v597 = llvm.insertelement %v455, %pair[%c0 : i32] : vector<2xf32>
    %v598 = llvm.insertelement %v456, %v597[%c1 : i32] : vector<2xf32> %v599 = arith.truncf %v598 : vector<2xf32> to vector<2xbf16>
    %v600 = llvm.bitcast %v599 : vector<2xbf16> to i32
    ptx.store_matrix %v588, %v592, %v596, %v600 to %v584
    %v601 = arith.xori %v471, %c96 : i32 %v602 = llvm.getelementptr %v473[%v601] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %v603 = llvm.getelementptr %v602[8192] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8 %v604 = llvm.insertelement %v457, %pair[%c0 : i32] : vector<2xf32>
    %v605 = llvm.insertelement %v458, %v604[%c1 : i32] : vector<2xf32> %v606 = arith.truncf %v605 : vector<2xf32> to vector<2xbf16>
    %v607 = llvm.bitcast %v606 : vector<2xbf16> to i32 %v608 = llvm.insertelement %v459, %pair[%c0 : i32] : vector<2xf32>
    %v609 = llvm.insertelement %v460, %v608[%c1 : i32] : vector<2xf32> %v610 = arith.truncf %v609 : vector<2xf32> to vector<2xbf16>
    %v611 = llvm.bitcast %v610 : vector<2xbf16> to i32 %v612 = llvm.insertelement %v461, %pair[%c0 : i32] : vector<2xf32>
    %v613 = llvm.insertelement %v462, %v612[%c1 : i32] : vector<2xf32> %v614 = arith.truncf %v613 : vector<2xf32> to vector<2xbf16>
    %v615 = llvm.bitcast %v614 : vector<2xbf16> to i32 %v616 = llvm.insertelement %v463, %pair[%c0 : i32] : vector<2xf32>
    %v617 = llvm.insertelement %v464, %v616[%c1 : i32] : vector<2xf32> %v618 = arith.truncf %v617 : vector<2xf32> to vector<2xbf16>
    %v619 = llvm.bitcast %v618 : vector<2xbf16> to i32
    ptx.store_matrix %v607, %v611, %v615, %v619 to %v603
    ptx.fence_proxy_async <shared_cta>
    ptx.named_barrier <sync> %c1 threads 128
    %v620 = llvm.getelementptr %outs[8192] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    ptx.tensor_store %mo[%c0, %rows], %outs if %lead
    ptx.tensor_store %mo[%c64, %rows], %v620 if %lead
    ptx.bulk_commit
    ptx.bulk_wait 0
  }
  llvm.return
}
